"""What a row, a task and a file of a sweep on many machines cost, for docs/scale.md: by time of processors, since most of it is done beside other work."""
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from measure import ROOT, TETHER, Row, progress, run
from sweep import TICK, write_plan

sys.path.insert(0, str(ROOT / "tests"))
from support.slurm import Slurm  # noqa: E402  it begins where the path above ends

ROWS, FILES, TASKS = 20000, 5000, 9000


def processor(*command):
    """s of processors that it takes, with the processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*command, timeout=3600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sweep(plan, *options):
    return processor(TETHER, "sweep", plan, "--quiet", *options)


def size(folder):
    return sum(file.stat().st_size for file in folder.glob("*.rows"))


def costs_of_rows(folder):
    plan = write_plan(folder, "gripper", ROWS, TICK)
    shards = plan.with_suffix(".shards")
    sweep(plan, "--shard", "1/1")
    bytes_of_files = size(shards)
    collected = sweep(plan, "--collect")
    again = sweep(plan, "--shard", "1/1")
    what = f"{ROWS} rows of two metrics"
    return [Row("scale/row-in-files", f"{what}, as files of a shard: each", bytes_of_files / ROWS, "bytes"),
            Row("scale/row-in-table", f"{what}, in SQLite: each", plan.with_suffix(".sqlite").stat().st_size / ROWS, "bytes"),
            Row("scale/collect-row", f"{what}, collected into SQLite: each", collected / ROWS * 1e6, "µs"),
            Row("scale/resume-row", "a shard that finds its rows there: each", again / ROWS * 1e6, "µs")]


def costs_of_a_task(folder):
    plan = write_plan(folder, "gripper", 1, TICK)
    first = min(sweep(plan, "--shard", "1/1", "--jobs", 1, "--shards", folder / f"task-{number}") for number in range(5))
    return [Row("scale/task", "a shard of one run of one tick of gripper: its program, plan, scene, models", first * 1e3, "ms")]


def costs_of_files(folder):
    plan = write_plan(folder, "gripper", 20, TICK)
    shards = plan.with_suffix(".shards")
    for number in "1/2", "2/2":
        sweep(plan, "--shard", number)
    file, = shards.glob("1-*.rows")
    few = [sweep(plan, *options) for options in (["--collect"], ["--shard", "1/2"], ["--shard", "2/2"])]
    for number in range(FILES):
        shutil.copy(file, shards / f"1-of-2-{number:016x}.rows")
    plan.with_suffix(".sqlite").unlink()
    many = [sweep(plan, *options) for options in (["--collect"], ["--shard", "1/2"], ["--shard", "2/2"])]
    costs = [(after - before) / FILES * 1e6 for before, after in zip(few, many)]
    return [Row("scale/collect-file", f"{FILES} files of ten rows, collected: each", costs[0], "µs"),
            Row("scale/resume-file", "the same, read by the shard that made them: each", costs[1], "µs"),
            Row("scale/other-file", "the same, seen by another shard: each", costs[2], "µs")]


def seconds(slurm, *command):
    began = time.monotonic()
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, env=slurm.environment)
    return time.monotonic() - began, done.stdout


def memory(process):
    text = pathlib.Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def costs_of_slurm(folder):
    script = folder / "nothing.sh"
    script.write_text("#!/bin/sh\n")
    with Slurm(max_array_size=100001, cores=16) as slurm:
        began = time.monotonic()
        seconds(slurm, "sbatch", "--wait", "--array=1-200", "--output=/dev/null", script)
        rate = 200 / (time.monotonic() - began)
        before = memory(slurm.daemons["slurmctld"].pid)
        submitted, _ = seconds(slurm, "sbatch", "--hold", f"--array=1-{TASKS}", "--output=/dev/null", script)
        listed, text = seconds(slurm, "squeue", "--array", "--noheader", "--states=PENDING")
        assert len(text.splitlines()) == TASKS
        grown = memory(slurm.daemons["slurmctld"].pid) - before
    return [Row("scale/slurm-submit", f"an array of {TASKS} tasks: sbatch", submitted * 1e3, "ms"),
            Row("scale/slurm-queue", f"the same: squeue, a line each, {grown:.1f} MiB more of slurmctld", listed * 1e3, "ms"),
            Row("scale/slurm-tasks", "200 tasks that do nothing, on two nodes of 16 cores that are this machine", rate, "1/s")]


def scale():
    """What a row, a task and a file of a sweep on many machines cost."""
    rows = []
    for costs in costs_of_rows, costs_of_a_task, costs_of_files, costs_of_slurm:
        progress(f"scale: {costs.__name__}")
        with tempfile.TemporaryDirectory() as folder:
            rows += costs(pathlib.Path(folder))
    return rows
