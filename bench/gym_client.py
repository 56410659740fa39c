"""Steps of a VectorEnv and of its batch alone, timed over the same states and commands. usage: gym_client.py COUNT THREADS; for each line
of standard input {"ours_ns": …, "bare_ns": …}, wall time of one environment's timestep."""
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import numpy as np  # noqa: E402
import tether.gym  # noqa: E402

CALLS = 4
COUNT, THREADS = map(int, sys.argv[1:])
envs = tether.gym.make_vec("reach", COUNT, threads=THREADS, max_episode_steps=1 << 30)
task = envs.task
commands = [name for action in task.actions for name in action.commands] + list(task.held)
bare = task.load_scene().batch(COUNT, commands, task.signals, THREADS)
actions = np.random.default_rng(0).uniform(-1, 1, (CALLS, COUNT, len(task.actions)))
rows = np.zeros((CALLS, COUNT, len(commands)))
rows[:, :, :len(task.actions)] = actions  # of reach ±1 rad/s are -1 … 1; what is held is 0


def per_step(started):
    return (time.monotonic_ns() - started) / (CALLS * task.substeps) / COUNT


for line in sys.stdin:
    envs.reset(seed=0)
    for mine, other in zip(envs._episodes.batch.sims, bare.sims):
        other.restore(mine.save())
    begun = time.monotonic_ns()
    for row in rows:
        bare.step(row, task.substeps)
    bare_ns, begun = per_step(begun), time.monotonic_ns()
    for action in actions:
        envs.step(action)
    print(json.dumps({"ours_ns": per_step(begun), "bare_ns": bare_ns}), flush=True)
    if envs._episodes.batch.out.tobytes() != bare.out.tobytes():
        sys.exit("gym_client: the two computed different things")
os._exit(0)
