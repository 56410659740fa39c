"""Steps by libtether, from C and from Python, against mj_step alone with the same torques. Both stay warm and take turns of some
milliseconds, so that what else the machine does meets both."""
import json
import os
import subprocess
import sys

from measure import BUILD, PRIORITY, ROOT, Row, median, progress

SCENE = "gripper"
TORQUES = "gripper, ten torques in, thirty signals out, ten steps a call"
COUNT = 64
THREADS = len(os.sched_getaffinity(0))


class Worker:
    """A program that measures once for each line it is given."""

    def __init__(self, *command, **environment):
        self.process = subprocess.Popen([*PRIORITY, *map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **environment})

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.process.args}: ended at '{line}'")
        return json.loads(answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


def steps():
    return Worker(BUILD / "library_steps", SCENE)


def numpy_python():
    """The interpreter that has NumPy: this one, or Debian's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    raise RuntimeError("no Python has NumPy: run script/setup")


def row(name, what, pairs, goal, note=""):
    """A row of (ns of ours, ns of the limit); the ratio is the median of the rounds' own."""
    ours, bare = zip(*pairs)
    return Row(name, what, 1e9 / median(ours), "steps/s", 1e9 / median(bare), median([b / o for o, b in pairs]), goal, note=note)


def in_turns(count, *measure):
    """Pairs of each measurement, which returns one; the first round warms up."""
    rounds = [[one() for one in measure] for _ in range(count + 1)][1:]
    return [list(pairs) for pairs in zip(*rounds)]


def library(count=60):
    """One simulation from C, as many as fit from C: steps against mj_step alone."""
    progress("library: one simulation from C")
    with steps() as c:
        def pair(line):
            answer = c.ask(line)
            return answer["ours_ns"], answer["bare_ns"]

        torques, servos, one = in_turns(count, lambda: pair("torques 10"), lambda: pair("servos 10"), lambda: pair("torques 1"))
        progress(f"batch: {COUNT} simulations on {THREADS} threads")
        batch, = in_turns(count // 3, lambda: pair(f"batch {COUNT} {THREADS}"))
    return [row("library/step", TORQUES, torques, 0.97),
            row("library/step-servos", TORQUES.replace("torques", "velocities"), servos, 0.95),
            row("library/step-one", TORQUES.replace("ten steps", "one step"), one, None),
            row("batch/T", f"{COUNT} gripper on {THREADS} threads, ten steps a call, torques", batch, 0.95,
                note=f"mj_step alone on {THREADS} threads at the same time")]


def python(count=60):
    """The same from Python."""
    with steps() as c, Worker(numpy_python(), ROOT / "bench/library_client.py", SCENE,
                              TETHER_LIBRARY=str(BUILD / "libtether.so.0")) as client:
        def pair(line, bare="bare"):
            return client.ask(line), c.ask(bare)["bare_ns"]

        progress("library: one simulation from Python")
        arrays, names, velocities = in_turns(count, lambda: pair("arrays"), lambda: pair("names"), lambda: pair("velocities"))
        progress("batch: from Python")
        size = f"{COUNT} {THREADS}"
        batch, = in_turns(count // 3, lambda: pair(f"batch {size}", f"batch-bare {size}"))
    what = "gripper, ten torques in, thirty signals out, one step a call"
    return [row("library/python", f"{what}, arrays resolved once", arrays, 0.80),
            row("library/python-names", f"{what}, names and dictionaries", names, 0.65),
            row("library/python-servos", f"{what.replace('torques', 'velocities')}, arrays; against torques", velocities, None),
            row("batch/python", f"{COUNT} gripper on {THREADS} threads, ten steps a call, torques", batch, 0.93)]


def gym(count=20):
    """Environments for learning beside the batch that they stand on."""
    progress(f"gym: {COUNT} environments on {THREADS} threads")
    with Worker(numpy_python(), ROOT / "bench/gym_client.py", COUNT, THREADS, TETHER_LIBRARY=str(BUILD / "libtether.so.0")) as client:
        def pair():
            answer = client.ask("pair")
            return answer["ours_ns"], answer["bare_ns"]

        pairs, = in_turns(count, pair)
    return [row("gym/vector", f"{COUNT} environments of task reach on {THREADS} threads, 30 steps an action", pairs, 0.95,
                note="the batch alone, the same states and commands")]
