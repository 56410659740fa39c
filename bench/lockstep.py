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

    def __init__(self, kind="echo", send=SEND, receive=RECEIVE):
        self.process = subprocess.Popen([*PRIORITY, *C_CLIENT, kind, str(send), str(receive)], stdout=subprocess.PIPE, text=True)
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


def exchange(client, mode, port, frames, send=SEND, receive=RECEIVE):
    """Seconds an exchange."""
    return float(run(*client, mode, port, frames, send, receive, warm_up(frames))) / frames


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


# Over UDP: wire, scene, whose steps are meant, how many a message, bytes of a command and of a message of the simulator. The limit is
# mj_step alone, but for the vehicle, whose wheels' servos cost a quarter of a step, its own step without wires.
DATAGRAMS = (("float-udp", ROOT / "bench/gripper-udp.yaml", "gripper", "bare_ns", 10, 40, 44),
             ("sharp-json", "sharp", "sharp", "ours_ns", 17, 124, 80))


def datagrams(wire, scene, model, step, steps, send, receive, count):
    """Messages/s at pace lockstep of a spinning C client over UDP."""
    frames, what = 3000, f"{model}, {steps} steps a message, spinning C client over UDP"
    progress(f"lockstep/{wire}: {what}")
    settings = ["--pace", "lockstep", "--set", f"wires.{wire}.bind=127.0.0.1:0", "--set", f"wires.{wire}.peer=sender"]

    def ours():  # a world of its own, to which the client says hello
        with Tether(scene, *settings) as tether:
            return exchange(C_CLIENT, wire, tether.address(wire)[1], frames, send, receive)

    def ping_pong():
        with Echo("datagram-echo", send, receive) as echo:
            return exchange(C_CLIENT, wire, echo.port, 10 * frames, send, receive)

    times, raw, alone = rounds(count, ours, ping_pong, lambda: bench_step(model, seconds=0.25)[step] * 1e-9)
    limits = [one_raw + steps * one_step for one_raw, one_step in zip(raw, alone)]
    return Row(f"lockstep/{wire}", what, 1 / median(times), "messages/s", 1 / median(limits),
               median([limit / time for limit, time in zip(limits, times)]), 0.85,
               note=f"ping-pong {median(raw) * 1e6:.1f} µs, a step {median(alone) * 1e6:.1f} µs")


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
    rows += [datagrams(*each, count) for each in DATAGRAMS]
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
