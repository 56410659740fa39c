"""Steps of the Python package, timed. usage: library_client.py SCENE; for each line of standard input one number, ns a step:

    arrays, velocities   one simulation, one step a call: ten commands (torques, velocities) in, thirty signals out, resolved once
    names                the same by names and dictionaries
    batch K T            K simulations on T threads, ten steps a call, torques; wall time of one simulation's step
"""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import numpy as np  # noqa: E402
import tether  # noqa: E402

JOINTS, STEPS, BATCH_CALLS, BATCH_STEPS = 10, 600, 12, 10
SCENE = tether.Scene(sys.argv[1])


def joints():
    """The first ten joints that take torques."""
    return [item.name.removesuffix(".torque") for item in SCENE.sim().command_items if item.name.endswith(".torque")][:JOINTS]


NAMES = joints()
TORQUES = [f"{name}.torque" for name in NAMES]
VELOCITIES = [f"{name}.velocity" for name in NAMES]
SIGNALS = [f"{name}.{kind}" for name in NAMES for kind in ("position", "velocity", "torque")]
PHASE = 0.02 * np.arange(STEPS)[:, None] + np.arange(JOINTS)[None, :]
TORQUE, VELOCITY = 4 * np.sin(PHASE), np.zeros((STEPS, JOINTS))  # as in library_steps.c
VELOCITY[:, 0] = 0.5 * np.cos(np.arange(STEPS) / 600)


def timed(loop, *arguments):
    started = time.thread_time_ns()
    loop(*arguments)
    return (time.thread_time_ns() - started) / STEPS


def arrays(sim, act, table):
    for row in table:
        act[:] = row
        sim.step()


def by_names(sim, rows):
    for row in rows:
        sim.apply(row)
        sim.step()
        sim.read(SIGNALS)


class Single:
    def __init__(self, commands, table):
        self.sim, self.table = SCENE.sim(), table
        self.act, self.obs = self.sim.commands(commands), self.sim.signals(SIGNALS)

    def measure(self):
        self.sim.reset()
        return timed(arrays, self.sim, self.act, self.table)


class Names:
    def __init__(self):
        self.sim = SCENE.sim()
        self.rows = [dict(zip(TORQUES, row)) for row in TORQUE.tolist()]

    def measure(self):
        self.sim.reset()
        return timed(by_names, self.sim, self.rows)


class Batch:
    def __init__(self, count, threads):
        self.batch = SCENE.batch(int(count), TORQUES, SIGNALS, threads=int(threads))

    def measure(self):
        self.batch.reset()
        count = len(self.batch)
        actions = np.empty((count, JOINTS))
        started = time.monotonic_ns()
        for k in range(BATCH_CALLS):
            actions[:] = TORQUE[k * BATCH_STEPS]
            self.batch.step(actions, BATCH_STEPS)
        return (time.monotonic_ns() - started) / (BATCH_CALLS * BATCH_STEPS) / count


MAKE = {"arrays": lambda: Single(TORQUES, TORQUE), "velocities": lambda: Single(VELOCITIES, VELOCITY), "names": Names, "batch": Batch}
made = {}
for line in sys.stdin:
    what, *arguments = line.split()
    if what not in made:
        made[what] = MAKE[what](*arguments)
    print(made[what].measure(), flush=True)
os._exit(0)
