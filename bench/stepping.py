"""Free-running steps against a bare mj_step loop of the same model and states, and how cost grows with robots."""
import pathlib
import tempfile

from measure import QUIET, Row, Tether, bench_step, median, progress

FRC2011 = ["frc2011", "--set", "wires.float-udp.bind=127.0.0.1:0"]


def row(name, what, arguments, goal, seconds):
    progress(f"{name}: {what}")
    got = bench_step(*arguments, seconds=seconds)
    return Row(name, what, 1e9 / got["ours_ns"], "steps/s", 1e9 / got["bare_ns"], got["ratio"], goal,
               note=f"{got['real_time_factor']:.1f} × real time"), got


def free(seconds=6):
    """Free-running: world_tick against mj_step."""
    gripper, _ = row("free/gripper", "gripper, all joints under velocity servos", ["gripper"], 0.95, seconds)
    frc2011, got = row("free/frc2011", "frc2011 drives among resting pieces", FRC2011, 0.95, seconds)
    return [gripper, frc2011,
            Row("free/frc2011-factor", "frc2011 drives among resting pieces", got["real_time_factor"], "× real time", goal=8)]


SCENE = """description: {count} robots
arena: frc2011
timestep: 1/3000 s
io_period: 10 ms
pace: realtime
robots:
{robots}
wires:
{wires}
"""
WIRE = """  - float-udp:
      robot: r{index}
      bind: 127.0.0.1:0
      peer: {peer}
      sensors: [{{name: time}}, {{name: left_wheel.position}}, {{name: right_wheel.position}}, {{name: arm.position}},
                {{name: wrist.position}}, {{name: left_wheel.velocity}}, {{name: right_wheel.velocity}},
                {{name: arm.velocity}}, {{name: wrist.velocity}}, {{name: chassis.yaw_rate}}]
      commands: [{{name: stamp}}, {{name: left_track.torque, unit: in·lbf}}, {{name: right_track.torque, unit: in·lbf}},
                 {{name: arm.torque, unit: in·lbf}}, {{name: wrist.torque, unit: in·lbf}}, {{name: grip}}]"""


def many_robots_scene(folder, count, peer=lambda index: f"127.0.0.1:{15900 + index}"):
    """A scene of `count` robots in two columns on the field, each with its own wire."""
    robots = [f"  - {{robot: frc2011, name: r{i}, alliance: {'red' if i % 2 else 'blue'}, "
              f"x: {1.8 + 6 * (i % 2)} m, y: {1.2 + 1.1 * (i // 2)} m, heading: 0 deg}}" for i in range(count)]
    wires = [WIRE.format(index=i, peer=peer(i)) for i in range(count)]
    path = pathlib.Path(folder) / f"robots{count}.yaml"
    path.write_text(SCENE.format(count=count, robots="\n".join(robots), wires="\n".join(wires)))
    return str(path)


def robots(seconds=2.5):
    """Cost of 1, 2, 4, 6 and 12 robots in one world."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for count in (1, 2, 4, 6, 12):
            scene = many_robots_scene(folder, count)
            rows.append(row(f"robots/{count}", f"{count} frc2011 driving, free-running", [scene], None, seconds)[0])
    return rows


def start(repeats=7):
    """From exec to `ready`, and memory then, as a user starts it (pages and record on)."""
    rows = []
    for scene in ("frc2011", "gripper"):
        progress(f"start/{scene}")
        times, memory = [], 0
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(repeats + 1):
                with Tether(scene, settings=free_ports(scene), XDG_STATE_HOME=folder) as tether:
                    times.append(tether.start_up)
                    memory = tether.memory()
        rows.append(Row(f"start/{scene}", f"{scene}: start to ready", median(times[1:]) * 1e3, "ms", goal=300, less=True))
        rows.append(Row(f"memory/{scene}", f"{scene}: resident memory when ready", memory, "MiB", less=True))
    return rows


def free_ports(scene):
    key = {"frc2011": "float-udp.bind", "gripper": "lockstep-tcp.listen"}[scene]
    return ["--set", f"wires.{key}=127.0.0.1:0", "--set", "web.listen=127.0.0.1:0"]
