"""Sweeps: runs a second on all cores against nothing but mj_step on all of them, what a run costs beside its steps, and large plans."""
import json
import os
import pathlib
import re
import resource
import sqlite3
import subprocess
import tempfile
import time

from measure import BUILD, PRIORITY, TETHER, Row, progress, run

CORES = len(os.sched_getaffinity(0))
RUNS, DURATION = 1000, 5
PLAN = """
scene: {scene}
duration: {duration}
axes:
  - {{name: {axis}, value: [0]}}
repeat: {runs}
metrics:
  - {{name: position, signal: {signal}, measure: final}}
  - {{name: greatest, signal: {signal}, measure: greatest}}
"""
SIGNALS = {"sharp": "chassis.y", "gripper": "base.position"}
PROGRAMS = {"sharp": f"{BUILD}/client_sharp_json ${{TETHER_SHARP_JSON##*:}} ${{TETHER_SHARP_JSON_PEER##*:}} 1000000",
            "gripper": f"{BUILD}/client_lockstep_tcp ${{TETHER_LOCKSTEP_TCP##*:}} 1000000"}  # in C
STEPS = {"sharp": 1000, "gripper": 600}  # a second
FREE = {"sharp": ["--set", "wires.sharp-json.bind=127.0.0.1:0"], "gripper": []}
TICK = "1/60 s"  # of gripper: ten steps


def write_plan(folder, scene, runs, duration):
    path = pathlib.Path(folder) / f"{scene}.yaml"
    path.write_text(PLAN.format(scene=scene, duration=duration, runs=runs, axis="nothing", signal=SIGNALS[scene]))
    return path


def sweep(plan, *options):
    """Its last words, and s of the clock and of processors that it took, workers included."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    said = run(TETHER, "sweep", plan, "--json", *options, timeout=3600).splitlines()[-1]
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(said), took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bare(scene, seconds=4):
    """s of a processor that a run's steps take with nothing but mj_step, while every core does the same."""
    command = [*PRIORITY, TETHER, "bench", "step", "--seconds", str(seconds), "--idle", "--until", str(DURATION), scene, *FREE[scene]]
    loops = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(CORES)]
    means = [json.loads(loop.communicate()[0])["bare_mean_ns"] for loop in loops]
    return sum(means) / len(means) * 1e-9 * STEPS[scene] * DURATION


def throughput(scene, runs):
    progress(f"sweep/{scene}")
    with tempfile.TemporaryDirectory() as folder:
        limit = bare(scene)
        _, took, processor = sweep(write_plan(folder, scene, runs, f"{DURATION} s"))
    what = f"{runs} runs of {DURATION} s of {scene}, no controller, {CORES} cores"
    return [Row(f"sweep/{scene}", what, runs / took, "runs/s", CORES / limit, runs / took * limit / CORES, 0.9,
                note="limit: bare mj_step on every core"),
            Row(f"sweep/{scene}-processor", "the same, by time of processors", runs / processor, "runs/s of a core", 1 / limit,
                runs / processor * limit, 0.9)]


def driven(scene, runs):
    """The same with a program in C that answers in lock-step; what each run takes of its start is told apart."""
    progress(f"sweep/{scene}-driven")
    with tempfile.TemporaryDirectory() as folder:
        def drive(duration, *options):
            plan = write_plan(folder, scene, runs, duration)
            plan.write_text(f"{plan.read_text()}controller:\n  command: >-\n    {PROGRAMS[scene]}\n")
            return sweep(plan, "--output", f"{folder}/{duration.replace('/', '-')}.sqlite", *options)[1:]
        limit = bare(scene)
        start, start_processor = drive(TICK)
        took, processor = drive(f"{DURATION} s")
    rest, processor_rest = took - start, processor - start_processor
    what = f"{runs} runs of {DURATION} s of {scene}, a program in C in lock-step, {CORES} cores, without its start"
    return [Row(f"sweep/{scene}-driven", what, runs / rest, "runs/s", CORES / limit, runs / rest * limit / CORES, 0.6,
                note="limit: bare mj_step on every core"),
            Row(f"sweep/{scene}-driven-processor", "the same, by time of processors", runs / processor_rest, "runs/s of a core", 1 / limit,
                runs / processor_rest * limit, 0.6),
            Row(f"sweep/{scene}-driven-start", "start and end of a program, and a tick: each, every core at it", start / runs * CORES * 1e3, "ms")]


def own_cost(runs):
    """What a run of one tick takes: its reset, ten steps, its row."""
    progress("sweep/own")
    with tempfile.TemporaryDirectory() as folder:
        plan = write_plan(folder, "gripper", runs, TICK)
        sweep(write_plan(folder, "gripper", 1, TICK), "--jobs", 1, "--output", f"{folder}/one.sqlite")
        _, took, _ = sweep(plan, "--jobs", 1)
    return [Row("sweep/own", f"{runs} runs of one tick of gripper, one worker: each", took / runs * 1e3, "ms", goal=2, less=True)]


def family(pid):
    found = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid] + [each for child in found for each in family(int(child))]


def memory(pid):
    """MiB that a process and its children need together: what they share counts once."""
    kilobytes = 0
    for each in family(pid):
        text = pathlib.Path(f"/proc/{each}/smaps_rollup").read_text()
        kilobytes += int(re.search(r"^Pss:\s+(\d+)", text, re.M)[1])
    return kilobytes / 1024


def count(table):
    if not table.exists() or not table.stat().st_size:
        return 0
    reader = sqlite3.connect(f"file:{table}?mode=ro", uri=True)
    try:
        return reader.execute("SELECT count(*) FROM run").fetchone()[0]
    except sqlite3.OperationalError:  # the table is being made
        return 0
    finally:
        reader.close()


def large(runs):
    """A large plan: until its first row is durable, what it needs, and how long it takes to find that nothing is left to do."""
    progress(f"sweep/start: {runs} runs")
    with tempfile.TemporaryDirectory() as folder:
        plan, most = write_plan(folder, "gripper", runs, TICK), 0
        table, began = plan.with_suffix(".sqlite"), time.monotonic()
        process = subprocess.Popen([*PRIORITY, TETHER, "sweep", plan, "--quiet"])
        while count(table) == 0 and process.poll() is None:
            time.sleep(0.005)
        first = time.monotonic() - began
        while process.poll() is None:
            try:
                most = max(most, memory(process.pid))
            except (OSError, TypeError):
                pass  # one of them just ended
            time.sleep(0.2)
        if process.wait() != 0 or count(table) != runs:
            raise RuntimeError("the sweep did not finish")
        _, took, _ = sweep(plan)
    return [Row("sweep/start", f"a plan of {runs} runs: start to the first durable row", first, "s", goal=2, less=True),
            Row("sweep/memory", f"a plan of {runs} runs: all processes together, at most", most, "MiB", goal=200, less=True),
            Row("sweep/resume", f"a table with all of {runs} rows: to see that nothing is left", took, "s", goal=2, less=True)]


def sweeps(runs=RUNS, many=100000):
    """Runs a second on all cores, the cost of a run, large plans."""
    return throughput("sharp", runs) + throughput("gripper", runs) + driven("sharp", runs) + driven("gripper", runs) + own_cost(2000) + large(many)
