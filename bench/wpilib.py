"""A robot program on WPILib in lock-step: how many times faster than real time the stand-in program drives its scenes."""
import os
import subprocess
import time

from measure import BUILD, PRIORITY, Row, Tether, bench_step, median, progress, rounds

LOOP = 0.02  # s of the program's clock
SCENES = {"sharp-wpilib-step": (20, 1 / 1000), "frc2011-wpilib-step": (None, 1 / 3000)}  # goal, timestep


def drive(scene, loops):
    """Simulated seconds a second, from the program's first instruction to its end."""
    environment = {**os.environ, "HALSIM_EXTENSIONS": str(BUILD / "tether-halsim.so")}
    with Tether(scene, "--set", "wires.halsim-step.listen=127.0.0.1:0") as tether:
        environment["TETHER_HALSIM"] = "%s:%d" % tether.address("halsim-step")
        began = time.monotonic()
        subprocess.run([*PRIORITY, BUILD / "halsim/standin/2026/robot", "--loops", str(loops)], env=environment, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
        return loops * LOOP / (time.monotonic() - began)


def wpilib():
    """The limit is what this engine's steps alone allow."""
    rows = []
    for scene, (goal, timestep) in SCENES.items():
        progress(f"wpilib: {scene}")
        loops = 1500 if goal else 500
        ours, bare = rounds(3, lambda scene=scene, loops=loops: drive(scene, loops),
                            lambda scene=scene, timestep=timestep: timestep / (bench_step(scene)["bare_ns"] * 1e-9))
        rows.append(Row(f"wpilib/{scene}", "a robot program in lock-step", median(ours), "× real time", limit=median(bare), goal=goal))
    progress("")
    return rows
