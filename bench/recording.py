"""What keeping a run costs, how large it is, how fast it is verified, and how fast a long one opens."""
import os
import re
import resource
import tempfile
import time

from measure import Row, TETHER, bench_step, median, progress, rounds, run

RUNS = {"frc2011": ("wires.float-udp.bind=127.0.0.1:0", 12), "sharp": ("wires.sharp-json.bind=127.0.0.1:0", 60)}


def free_run(scene, seconds, recorded=None):
    """Wall seconds of the run itself: without what starting costs, by the difference of a long and a short one."""
    def once(duration):
        started = time.perf_counter()
        run(TETHER, "run", scene, "--pace", "fast", "--no-web", "--duration", duration, "--set", RUNS[scene][0],
            *(["--record", next(recorded)] if recorded else ["--set", "record.on=false"]))
        return time.perf_counter() - started
    return once(seconds) - once(0.02)


def recording(count=3):
    """Recording's cost, bytes kept, and verify against bare mj_step."""
    rows = []
    for scene, (_, seconds) in RUNS.items():
        progress(f"recording/{scene}")
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "run.wpilog")
            names = (os.path.join(folder, f"{i}.wpilog") for i in range(1000))
            off, on = rounds(count, lambda: free_run(scene, seconds),
                             lambda: free_run(scene, seconds, recorded=names))
            ratio = median([a / b for a, b in zip(off, on)])
            rows.append(Row(f"recording/{scene}", f"{scene} free-running and recorded, against not", seconds / median(on),
                            "× real time", seconds / median(off), ratio, 0.95))
            run(TETHER, "run", scene, "--pace", "fast", "--no-web", "--duration", seconds, "--set", RUNS[scene][0], "--record", log)
            rows.append(Row(f"recording/{scene}-bytes", f"{scene}: log", os.path.getsize(log) / seconds / 1024,
                            "KiB/simulated s", less=True))
            rows.append(verify(scene, log, count))
    return rows


def cpu_of(*command):
    """What a command printed, and the CPU seconds it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = run(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def verify(scene, log, count):
    """A kept run of a robot at rest. Both sides are CPU time, without what loading the scene takes."""
    def once():
        said, took = cpu_of(TETHER, "verify", log)
        _, loading = cpu_of(TETHER, "check", scene)
        found = re.search(r"identical: (\d+) steps.* ([\d.]+) ×", said)
        return (took - loading) / int(found[1]), float(found[2])
    got, bare = rounds(count, once, lambda: run_bare(scene))
    ours = median([one for one, _ in got])
    return Row(f"verify/{scene}", f"{scene}: verify, against bare mj_step", 1 / ours, "steps/s", 1 / median(bare),
               median([b / one for b, (one, _) in zip(bare, got)]), 0.9, note=f"{median([f for _, f in got]):.1f} × real time")


def run_bare(scene):
    return bench_step("--idle", scene, "--set", RUNS[scene][0], seconds=0.8)["bare_ns"] * 1e-9
