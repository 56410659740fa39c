"""Sweeps for tests: plans, their tables, and which processes a sweep has."""
import json
import pathlib
import sqlite3
import subprocess

from support.live_page import Page, poses
from support.process import PATIENCE, STATE, TETHER, Tether

OF_THE_MACHINE = ("wall_time", "host")  # what differs between two sweeps of one plan


def tether(*arguments, patience=120, **options):
    """(status, standard output, standard error)"""
    done = subprocess.run([TETHER, *map(str, arguments)], capture_output=True, text=True, timeout=patience, check=False, **options)
    return done.returncode, done.stdout, done.stderr


def rows(table, leave_out=OF_THE_MACHINE):
    """The rows of a table in the plan's order, each a dict, without what differs between machines."""
    with sqlite3.connect(f"file:{table}?mode=ro", uri=True, timeout=PATIENCE) as reader:
        reader.row_factory = sqlite3.Row
        found = [dict(row) for row in reader.execute("SELECT * FROM run ORDER BY run")]
    reader.close()
    return [{name: value for name, value in row.items() if name not in leave_out} for row in found]


def sweep(plan, table, *options):
    """Makes the table, whole, and gives its rows."""
    status, _, said = tether("sweep", plan, "--output", table, *options)
    assert status == 0, (status, said)
    return rows(table)


def again(plan, run, *options):
    """The row of a run that a process of its own makes."""
    status, said, complaint = tether("sweep", plan, "--only", run["id"], "--json", *options)
    assert status == 0, complaint
    return {name: value for name, value in json.loads(said).items() if name not in OF_THE_MACHINE}


def state_of(pid):
    """"R", "S", …, or None where there is no such process, or a dead one that its parent has not asked for yet."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    state = text.rpartition(")")[2].split()[0]
    return None if state in "ZX" else state


def descendants(pid):
    """Processes that `pid` started, and those they started."""
    try:
        found = [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()]
    except OSError:
        return []
    return found + [each for child in found for each in descendants(child)]


def workers(pid):
    """The processes of a sweep that make its runs."""
    def name(each):
        try:
            return pathlib.Path(f"/proc/{each}/comm").read_text(encoding="utf-8").strip()
        except OSError:
            return ""
    return [each for each in descendants(pid) if name(each) == "tether-worker"]


def prove(plan, run, *options):
    """A row's run is made again, alone, and kept: it is the same, verified, replayed, and raced against itself."""
    kept = pathlib.Path(STATE.name) / "tether" / "runs"
    kept.mkdir(parents=True, exist_ok=True)
    log = kept / f"{run['id'][:8]}.wpilog"
    same = again(plan, run, "--record", log, *options)
    assert {**same, "error": same["error"] or ""} == run, (same, run)
    status, said, complaint = tether("verify", log)
    assert status == 0 and "identical: " in said, said + complaint
    with Tether("replay", log, "--set", "web.listen=127.0.0.1:0") as program:
        page = Page(program.addresses["web"])
        page.send(type="phantom", add=log.name)
        _, bodies, racing = poses(page.until(lambda message: isinstance(message, bytes) and message[0] == 1 and len(poses(message)[2]) == 1))
        page.close()
        assert bodies and racing[0][2] < 0.5, racing  # m
        assert program.stop() == 0, program.text()
