"""Lock-step frames/s of three clients, each against mj_step alone plus the same client's ping-pong with a spinning echo;
and steps/s of several clients in total, each in a world of its own."""
import concurrent.futures
import os
import subprocess
import sys
import time

from measure import BUILD, PRIORITY, ROOT, Row, Tether, bench_step, median, progress, rounds, run

JOINTS = 10
SEND, RECEIVE = 4 * JOINTS, 8 + 4 * JOINTS
C_CLIENT = [str(BUILD / "lockstep_client")]
PYTHON_CLIENT = [sys.executable, str(ROOT / "bench/lockstep_client.py")]
CLIENTS = {"spin": ("spinning C client", C_CLIENT, "spin"), "block": ("blocking C client", C_CLIENT, "block"),
           "python": ("Python client", PYTHON_CLIENT, "block")}


class Echo:
    """What the simulator's side of the socket costs at least: reads, writes, spins."""

    def __init__(self):
        self.process = subprocess.Popen([*PRIORITY, *C_CLIENT, "echo", str(SEND), str(RECEIVE)], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def warm_up(frames):
    """Exchanges before those that are timed."""
    return frames // 10


def exchange(client, mode, port, frames):
    """Seconds an exchange."""
    return float(run(*client, mode, port, frames, SEND, RECEIVE, warm_up(frames))) / frames


def measure(which, steps, count, frames):
    """Medians: seconds a frame of ours, seconds of its limit, and the ratio of each round."""
    _, client, mode = CLIENTS[which]
    settings = ["--set", f"wires.lockstep-tcp.steps_per_frame={steps}", "--set", "wires.lockstep-tcp.listen=127.0.0.1:0"]
    with Tether("gripper", *settings) as tether:
        port = tether.address("lockstep-tcp")[1]

        def ping_pong():  # an echo that spins must not run beside the simulator
            with Echo() as echo:
                return exchange(client, mode, echo.port, 10 * frames if steps > 1 else 2 * frames)

        ours, raw, bare = rounds(count, lambda: exchange(client, mode, port, frames), ping_pong,
                                 lambda: bench_step("gripper", seconds=0.25)["bare_ns"] * 1e-9)
    limits = [one_raw + steps * one_bare for one_raw, one_bare in zip(raw, bare)]
    return median(ours), median(limits), median([limit / our for limit, our in zip(limits, ours)]), median(raw), median(bare)


def lockstep(count=5):
    """Frames/s over TCP of a spinning C client, a blocking one and a Python client."""
    rows = []
    for steps, which, frames in ((10, "spin", 3000), (10, "block", 3000), (10, "python", 3000), (1, "spin", 10000)):
        name = f"lockstep/{which}" + ("" if steps == 10 else "-one-step")
        what = f"gripper, {steps} step{'s' if steps > 1 else ''} a frame, {CLIENTS[which][0]}"
        progress(f"{name}: {what}")
        ours, limit, ratio, raw, bare = measure(which, steps, count, frames)
        rows.append(Row(name, what, 1 / ours, "frames/s", 1 / limit, ratio, 0.85 if steps == 10 else None,
                        note=f"ping-pong {raw * 1e6:.1f} µs, mj_step {bare * 1e6:.1f} µs"))
    one = rows[-1]
    rows.append(Row("lockstep/one-step-rate", one.what, one.ours, "frames/s", goal=30000, note=one.note))
    return rows


def worlds(count=3, frames=5000, steps=10):
    """Steps/s in total of 1, 2, 4 and 8 blocking C clients, each with a world of its own, against as many cores of mj_step."""
    settings = ["--set", "wires.lockstep-tcp.worlds=per-connection", "--set", "wires.lockstep-tcp.listen=127.0.0.1:0",
                "--set", f"wires.lockstep-tcp.steps_per_frame={steps}"]
    rows = []
    for clients in (1, 2, 4, 8):
        what = f"gripper, {clients} client{'s' if clients > 1 else ''}, each with its own world"
        progress(f"worlds/{clients}: {what}")
        with Tether("gripper", *settings) as tether, concurrent.futures.ThreadPoolExecutor(clients) as pool:
            port = tether.address("lockstep-tcp")[1]

            def total():  # from the start of the first to the end of the last, making of the worlds included
                started = time.monotonic()
                for one in [pool.submit(exchange, C_CLIENT, "block", port, frames) for _ in range(clients)]:
                    one.result()
                return clients * steps * (frames + warm_up(frames)) / (time.monotonic() - started)

            ours, bare = rounds(count, total, lambda: bench_step("gripper", seconds=0.25)["bare_ns"] * 1e-9)
        limits = [min(clients, os.cpu_count()) / one_bare for one_bare in bare]
        rows.append(Row(f"worlds/{clients}", what, median(ours), "steps/s", median(limits),
                        median([our / limit for our, limit in zip(ours, limits)])))
    return rows
