"""What keeping a run costs, how large it is, how fast it is verified, and how fast a long one opens."""
import json
import os
import re
import resource
import struct
import tempfile
import time

from measure import BUILD, Row, TETHER, bench_step, median, progress, rounds, run

RUNS = {"frc2011": ("wires.float-udp.bind=127.0.0.1:0", 12), "sharp": ("wires.sharp-json.bind=127.0.0.1:0", 60)}


# Those of other kinds, for how much faster than real time they are verified.
ALONE = ["late=hold", "deadline=1 ms"]  # of a wire that waits for a client that never comes
OTHERS = {"gripper": ("lockstep-tcp", ["listen=127.0.0.1:0", *ALONE]), "ezphysics": ("ezphysics", ["listen=127.0.0.1:0", *ALONE]),
          **{scene: ("float-udp", ["bind=127.0.0.1:0"]) for scene in ("concept-symmetric", "frc2011-motors", "frc2011-sensors")}}
HOUR = 3600e6  # µs


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
            if scene == "frc2011":
                rows += open_hour(log, os.path.join(folder, "hour.wpilog"))
    return rows + [verify_factor(scene, *wire) for scene, wire in OTHERS.items()]


def records(data):
    """(entry, time, payload) of a WPILOG."""
    at = 12 + struct.unpack_from("<I", data, 8)[0]
    while at < len(data):
        bits, values = data[at], []
        at += 1
        for size in ((bits & 3) + 1, (bits >> 2 & 3) + 1, (bits >> 4 & 7) + 1):
            values.append(int.from_bytes(data[at:at + size], "little"))
            at += size
        yield values[0], values[2], data[at:at + values[1]]
        at += values[1]


def encode(entry, payload):
    """A record in two parts, between which its time goes in four bytes."""
    numbers = [(number, max(1, (number.bit_length() + 7) // 8)) for number in (entry, len(payload))]
    head = sum((size - 1) << shift for (_, size), shift in zip([*numbers, (0, 4)], (0, 2, 4)))
    return bytes([head]) + b"".join(number.to_bytes(size, "little") for number, size in numbers), payload


def make_hour(log, path):
    """A log of an hour: the records of a short one over and over."""
    with open(log, "rb") as file:
        data = file.read()
    once, again = [], []
    for entry, time, payload in records(data):
        (again if time > 0 else once).append((*encode(entry, payload), time))
    length = again[-1][2]
    with open(path, "wb") as file:
        file.write(data[:12 + struct.unpack_from("<I", data, 8)[0]])
        for start, part in [(0, once), *((start, again) for start in range(0, int(HOUR), length))]:
            file.write(b"".join([head + struct.pack("<I", start + time) + payload for head, payload, time in part]))


def open_hour(log, path):
    """Opening it first, then with its index; the slowest of 200 seeks; memory. The file is in the system's cache."""
    progress("recording/hour")
    make_hour(log, path)
    first = json.loads(run(BUILD / "log_open", path))
    then = json.loads(run(BUILD / "log_open", path))
    what = f"a log of an hour, {first['bytes'] / 1e6:.0f} MB"
    return [Row("recording/hour-scan", f"{what}: opened for the first time", first["open_s"] * 1e3, "ms", goal=1000, less=True),
            Row("recording/hour-open", f"{what}: opened with its index", then["open_s"] * 1e3, "ms", goal=1000, less=True),
            Row("recording/hour-seek", f"{what}: slowest of 200 seeks", then["seek_s"] * 1e3, "ms", goal=1000, less=True),
            Row("recording/hour-memory", f"{what}: peak memory, of the file", first["peak_bytes"] / first["bytes"], "×",
                goal=2, less=True)]


def verify_factor(scene, wire, settings):
    progress(f"verify/{scene}")
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "run.wpilog")
        changes = [word for setting in settings for word in ("--set", f"wires.{wire}.{setting}")]
        run(TETHER, "run", scene, "--pace", "fast", "--no-web", "--duration", 5, "--record", log, *changes)
        factor = float(re.search(r"([\d.]+) × real time", run(TETHER, "verify", log))[1])
    return Row(f"verify/{scene}", f"{scene}: verify", factor, "× real time")


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
