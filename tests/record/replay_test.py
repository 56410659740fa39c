#!/usr/bin/env python3
"""Kept runs shown again (`tether replay`), raced as phantoms, and gone on from saved states."""
import http.client
import json
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import unittest

from support.live_page import Page, poses
from support.lockstep import FRAME, drive, join, receive, velocities
from support.process import ROOT, STATE, TETHER, Tether, wait_for


FOLDER = pathlib.Path(STATE.name)
RUNS = FOLDER / "tether" / "runs"
WIRE = ("--set", "wires.float-udp.bind=127.0.0.1:0")
DRIVE = {"left_track.torque": 8, "right_track.torque": 8}


def tether(*arguments):
    return subprocess.run([TETHER, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def run(*arguments):
    """One quick run of the demonstration scene that drives: its log."""
    before = set(RUNS.glob("*.wpilog")) if RUNS.exists() else set()
    done = tether("run", "frc2011", "--pace", "fast", "--no-web", *WIRE, *arguments)
    assert done.returncode == 0, done.stderr
    return (set(RUNS.glob("*.wpilog")) - before).pop()


class Snapshots(unittest.TestCase):
    def test_a_run_from_a_snapshot_is_the_run_that_went_on(self):
        one, two, three = (FOLDER / name for name in ("one", "two", "three"))
        run("--duration", "1", "--save-state", one)
        run("--duration", "0.5", "--save-state", two)
        log = run("--duration", "1", "--from-state", two, "--save-state", three)
        self.assertEqual(one.read_bytes(), three.read_bytes())
        verified = tether("verify", log)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        self.assertIn("identical: 1500 steps", verified.stdout)

    def test_a_state_has_no_reset_to_come(self):
        """The client leaves while the world waits for its next tick, and the world is stopped in the same moment."""
        state = FOLDER / "left"
        with Tether("run", "gripper", "--no-web", "--pace", "realtime", "--save-state", state, "--set", "wires.lockstep-tcp.steps_per_frame=600",
                    "--set", "wires.lockstep-tcp.listen=127.0.0.1:0") as tether:
            with join(tether) as link:
                drive(link, 2)
                tether.process.send_signal(signal.SIGSTOP)
            tether.process.send_signal(signal.SIGINT)
            self.assertEqual(tether.stop(signal.SIGCONT), 0, tether.text())
        saved = state.read_bytes()
        _, step, *_, flags = struct.unpack_from("<7Q", saved, saved.index(b"TETTS06"))
        self.assertFalse(flags & 2)
        self.assertEqual(step == 0, "world: reset" in tether.text(), tether.text())

    def test_what_is_no_state_of_this_scene_is_refused(self):
        good = FOLDER / "good"
        run("--duration", "0.1", "--save-state", good)
        bad = FOLDER / "bad"
        flipped = bytearray(good.read_bytes())
        flipped[-1] ^= 1
        for content in (b"", b"TETHERST", good.read_bytes()[:-1], bytes(flipped), good.read_bytes()[:30]):
            bad.write_bytes(content)
            done = tether("run", "frc2011", "--no-web", *WIRE, "--duration", "0.1", "--from-state", bad)
            self.assertEqual(done.returncode, 1, done.stderr)
        done = tether("run", "gripper", "--no-web", "--set", "wires.lockstep-tcp.listen=127.0.0.1:0", "--duration", "0.1", "--from-state", good)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("another scene", done.stderr)


class Token(unittest.TestCase):
    """A scene's token stands in no log: who opens pages from one says what is to hold."""

    @classmethod
    def setUpClass(cls):
        scene, cls.log = FOLDER / "token.yaml", FOLDER / "token.wpilog"
        scene.write_text("robots: []\nweb: {token: sesame, listen: '127.0.0.1:0'}\n", encoding="utf-8")
        done = tether("run", scene, "--pace", "fast", "--no-web", "--duration", "0.2", "--record", cls.log)
        assert done.returncode == 0, done.stderr

    def refused(self, *arguments):
        with self.assertRaisesRegex(AssertionError, "give --set web.token=TOKEN, or --set web.token= for none"), Tether(*arguments):
            pass

    def test_it_is_missed(self):
        fork = FOLDER / "token-fork.wpilog"
        done = tether("run", "--from", f"{self.log}@0.1", "--pace", "fast", "--no-web", "--duration", "0.2", "--record", fork)
        self.assertEqual(done.returncode, 0, done.stderr)
        for log in self.log, fork:
            self.refused("replay", log)
            self.refused("replay", log, "--set", "web.hosts=[token.example]")
            self.refused("run", "--from", f"{log}@0.1")
        self.assertEqual(tether("verify", fork).returncode, 0)

    def test_another_or_none_is_given(self):
        for command in ("replay", self.log), ("run", "--from", f"{self.log}@0.1"):
            for setting, status in ("web.token=other", 401), ("web={token: other, listen: '127.0.0.1:0'}", 401), ("web.token=", 200):
                with self.subTest(command=command[0], setting=setting), Tether(*command, "--set", setting) as program:
                    connection = http.client.HTTPConnection(program.addresses["web"].removeprefix("http://"), timeout=60)
                    connection.request("GET", "/api/runs")
                    self.assertEqual(connection.getresponse().status, status)
                    connection.close()

    def test_a_scene_without_one(self):
        """Neither "" nor ~ is one; what the run served its replay does not."""
        scene = FOLDER / "none.yaml"
        for number, value in enumerate(("''", "~", "")):
            log = FOLDER / f"none{number}.wpilog"
            scene.write_text(f"robots: []\nweb: {{token: {value}, listen: '127.0.0.1:0'}}\n", encoding="utf-8")
            done = tether("run", scene, "--pace", "fast", "--no-web", "--duration", "0.2", "--record", log, "--set", "foxglove={listen: '127.0.0.1:0'}")
            self.assertEqual(done.returncode, 0, done.stderr)
            with Tether("replay", log) as program:
                self.assertEqual(set(program.addresses), {"web"})


class Controller(unittest.TestCase):
    """A user's program against a run that it made before."""

    CLIENT = ROOT / "clients" / "python" / "lockstep_tcp.py"
    WIRE = ("--set", "wires.lockstep-tcp.listen=127.0.0.1:0")

    def verify(self, command, *arguments):
        return tether("verify", FOLDER / "good.wpilog", "--controller", command, *self.WIRE, *arguments)

    def test_a_changed_program_is_told_from_the_same(self):
        with Tether("run", "gripper", "--no-web", "--duration", "1", *self.WIRE, "--record", FOLDER / "good.wpilog") as program:
            subprocess.run([sys.executable, self.CLIENT, program.addresses["lockstep-tcp"], "60"], check=True, timeout=60,
                           capture_output=True)
            self.assertEqual(program.wait_exit(), 0, program.text())
        address = "$TETHER_LOCKSTEP_TCP"
        same = self.verify(f"{sys.executable} {self.CLIENT} {address} 60")
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
        self.assertIn("equal: ", same.stdout)
        changed = FOLDER / "changed.py"
        changed.write_text(self.CLIENT.read_text().replace("0.5 * math.cos", "0.4 * math.cos"))
        different = self.verify(f"{sys.executable} {changed} {address} 60")
        self.assertEqual(different.returncode, 1, different.stdout + different.stderr)
        self.assertIn("swivel.position: beyond 0 from ", different.stdout)
        tolerated = self.verify(f"{sys.executable} {changed} {address} 60", "--tolerance", "100")
        self.assertEqual(tolerated.returncode, 0, tolerated.stdout + tolerated.stderr)
        with Tether("run", "--from", f"{FOLDER}/good.wpilog@0.5", "--no-web", "--duration", "0.8", *self.WIRE, "--record", FOLDER / "late.wpilog") as program:
            subprocess.run([sys.executable, self.CLIENT, program.addresses["lockstep-tcp"], "18"], check=True, timeout=60, capture_output=True)
            self.assertEqual(program.wait_exit(), 0, program.text())
        forked = tether("verify", FOLDER / "late.wpilog", "--controller", f"{sys.executable} {self.CLIENT} {address} 18", *self.WIRE)
        self.assertEqual(forked.returncode, 0, forked.stdout + forked.stderr)  # it goes on where the kept run did
        self.assertEqual(self.verify("true", "--tolerance", "nosuch=1").returncode, 1)
        gone = self.verify("false")
        self.assertEqual(gone.returncode, 1)
        self.assertIn("the program ended after", gone.stderr)
        self.assertEqual(self.verify("true", "--tolerance", "x=nan").returncode, 2)


    def test_a_run_without_a_step_proves_nothing(self):
        """As one whose only client looked whether the port is open."""
        log = FOLDER / "empty.wpilog"
        with Tether("run", "gripper", "--no-web", *self.WIRE, "--set", "wires.lockstep-tcp.on_disconnect=exit", "--record", log) as program:
            host, port = program.addresses["lockstep-tcp"].rsplit(":", 1)
            socket.create_connection((host, int(port))).close()
            self.assertEqual(program.wait_exit(), 0, program.text())
        done = tether("verify", log, "--controller", "true", *self.WIRE)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertNotIn("equal", done.stdout)
        self.assertIn("ended before its first step", done.stderr)

    def test_a_practice_match_is_played_again(self):
        """In its pause the robot is disabled, whatever the program says."""
        program, log = FOLDER / "match.py", FOLDER / "match.wpilog"
        program.write_text("""import socket, struct, sys
host, port = sys.argv[1].rsplit(":", 1)
wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
wire.connect((host, int(port)))
stamp = 1
wire.send(struct.pack("<6f", stamp, 0, 0, 0, 0, 0))
while wire.recv(2048):
    stamp += 1
    wire.send(struct.pack("<6f", stamp, 80, 80, 0, 0, 0))
""")
        with Tether("run", "frc2011", "--no-web", "--match", "--pace", "lockstep", *WIRE, "--set", "wires.float-udp.peer=sender", "--set", "game.autonomous=0.2",
                    "--set", "game.pause=0.2", "--set", "game.teleop=0.2", "--record", log) as scene:
            driver = subprocess.Popen([sys.executable, program, scene.addresses["float-udp"]], stderr=subprocess.DEVNULL)
            self.assertEqual(scene.wait_exit(), 0, scene.text())
            driver.kill()
            driver.wait()
        done = tether("verify", log, "--controller", f"{sys.executable} {program} $TETHER_FLOAT_UDP", *WIRE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Shown(unittest.TestCase):
    """One run that drives, made by a page, shown and raced afterwards."""

    @classmethod
    def setUpClass(cls):
        with Tether("run", "frc2011", "--set", "web.listen=127.0.0.1:0", *WIRE, "--set", "speed=4") as program:
            page = Page(program.addresses["web"])
            page.command(**DRIVE)
            start = poses(page.frame())[0]
            page.until(lambda message: isinstance(message, bytes) and message[0] == 1
                       and poses(message)[0] > start + 2.5)
            page.close()
            assert program.stop() == 0, program.text()
        cls.log = max(RUNS.glob("*.wpilog"), key=lambda path: path.stat().st_mtime)
        summary = tether("export", cls.log, "--format", "summary").stdout
        cls.distance = float(summary.split("distance: ")[1].split()[0])

    def plot(self, address, *names, log=None):
        host = address.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=20)
        connection.request("GET", f"/api/runs/{(log or self.log).name}/signals?" + "&".join(f"name={n}" for n in names) + "&points=20000")
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def test_it_drove(self):
        self.assertGreater(self.distance, 0.1)

    def test_replay_shows_the_run_and_seeks(self):
        with Tether("replay", self.log, "--from", "1", "--set", "web.listen=127.0.0.1:0") as program:
            page = Page(program.addresses["web"])
            self.assertEqual(page.hello["replay"]["run"], self.log.name)
            self.assertGreater(page.hello["replay"]["duration"], 2.5)
            root = page.model["robots"][0]["root"]
            name = page.model["bodies"][root]["name"]
            plot = self.plot(program.addresses["web"], f"{name}.x", f"{name}.y")
            page.send(type="control", action="pause")
            for wanted in (0.5, 2.0, 0.0, 1.5):
                page.send(type="control", action="seek", value=wanted)
                time, bodies, _ = poses(page.until(lambda message: isinstance(message, bytes) and message[0] == 1
                                                   and abs(poses(message)[0] - wanted) < 0.0005))
                row = max(i for i, at in enumerate(plot["time"]) if at <= time + 1e-9)
                self.assertAlmostEqual(bodies[root][0], plot["values"][0][row], places=5)
                self.assertAlmostEqual(bodies[root][1], plot["values"][1][row], places=5)
            page.command(**DRIVE)  # nobody drives what happened long ago
            page.send(type="control", action="resume")
            page.until(lambda message: isinstance(message, dict) and message["type"] == "event"
                       and "ends here" in message["text"])
            page.close()
            self.assertEqual(program.stop(), 0, program.text())

    def test_a_run_that_went_on_from_another_is_shown_from_its_beginning(self):
        """Before it there is nothing: neither at the start, nor where somebody goes, nor in a picture of the model's own."""
        fork = RUNS / "fork.wpilog"
        done = tether("run", "--from", f"{self.log}@1.5", "--pace", "fast", "--no-web", "--duration", "2", *WIRE, "--record", fork)
        self.assertEqual(done.returncode, 0, done.stderr)
        with Tether("replay", fork, "--set", "web.listen=127.0.0.1:0") as program:
            page = Page(program.addresses["web"])
            first = page.until(lambda message: isinstance(message, bytes) and message[0] == 1 and poses(message)[0] > 0)
            self.assertGreaterEqual(poses(first)[0], 1.5)
            root = page.model["robots"][0]["root"]
            name = page.model["bodies"][root]["name"]
            plot = self.plot(program.addresses["web"], f"{name}.x", log=fork)
            self.assertEqual(plot["time"][0], 1.5)
            page.send(type="control", action="pause")
            page.send(type="control", action="seek", value=1.8)
            page.until(lambda message: isinstance(message, bytes) and message[0] == 1 and abs(poses(message)[0] - 1.8) < 0.0005)
            page.send(type="control", action="seek", value=0.3)
            time, bodies, _ = poses(page.until(lambda message: isinstance(message, bytes) and message[0] == 1 and poses(message)[0] < 1.8 - 0.0005))
            self.assertAlmostEqual(time, 1.5)
            self.assertAlmostEqual(bodies[root][0], plot["values"][0][0], places=5)
            page.close()
            self.assertEqual(program.stop(), 0, program.text())

    def test_who_goes_back_by_a_tick_has_the_values_of_there(self):
        with Tether("replay", self.log, "--set", "web.listen=127.0.0.1:0") as program:
            page = Page(program.addresses["web"])
            page.send(type="control", action="pause")
            page.send(type="subscribe", number=1, signals=[0], rate=20)
            for to in 1, 0.99, 0.98:
                page.send(type="control", action="seek", value=to)
                page.until(lambda message: isinstance(message, bytes) and message[0] == 2 and struct.unpack_from("<I", message, 8)[0]
                           and abs(struct.unpack_from("<d", message, len(message) - 16)[0] - to) < 0.0005)
            page.close()
            self.assertEqual(program.stop(), 0, program.text())

    def test_who_goes_to_where_it_stands_sees_it(self):
        with Tether("replay", self.log, "--set", "web.listen=127.0.0.1:0") as program:
            page = Page(program.addresses["web"])
            page.send(type="control", action="pause")
            for _ in range(3):  # however soon it is there again
                for to in 1, 1, 0:
                    page.send(type="control", action="seek", value=to)
                    page.until(lambda message: isinstance(message, bytes) and message[0] == 1 and poses(message)[0] == to)
            page.close()
            self.assertEqual(program.stop(), 0, program.text())

    def test_what_people_were_told_they_are_told_again_at_its_time(self):
        log = RUNS / "eventful.wpilog"
        with Tether("run", "frc2011", "--set", "web.listen=127.0.0.1:0", *WIRE, "--set", "wires.float-udp.watchdog=0.1 s",
                    "--record", log) as program:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
                peer.sendto(struct.pack("<6f", *[0] * 6), program.address("float-udp"))
            program.wait_line("watchdog: silent")
            page = Page(program.addresses["web"])
            page.send(type="trial", action="start", driver="Zoë")
            page.send(type="control", action="reset", robot=-1)
            page.until(lambda message: isinstance(message, dict) and message.get("text") == "reset")
            page.close()
            self.assertEqual(program.stop(), 0, program.text())
        kept = [json.loads(line) for line in tether("export", log, "--format", "jsonl").stdout.splitlines()]
        kept = [(event["time"], event["value"]) for event in kept if event["name"] == "/events"]
        for part in ("watchdog: silent", "trial: ", "Zoë", "world: reset"):
            self.assertIn(part, " ".join(text for _, text in kept))
        with Tether("replay", log, "--set", "web.listen=127.0.0.1:0") as program:
            page = Page(program.addresses["web"])
            page.send(type="control", action="pause")
            page.until(lambda message: isinstance(message, dict) and message["type"] == "status" and message["paused"])
            page.send(type="control", action="seek", value=0)
            page.until(lambda message: isinstance(message, bytes) and poses(message)[0] == 0)
            page.send(type="control", action="resume")
            shown, told = 0, []  # what happened before the first tick is told before the world says that it goes on
            while not told or "ends here" not in told[-1][1]:
                message = page.receive()
                if isinstance(message, bytes):
                    shown = poses(message)[0]
                elif message["type"] == "event" and message["text"] != "resumed":
                    at = message["step"] * page.hello["timestep"]
                    self.assertLess(shown, at + 0.03, message)  # not after what came later: a tick and a frame
                    told.append((at, f"{message['source']}: {message['text']}"))
            self.assertEqual([text for _, text in told[:-1]], [text for _, text in kept])
            for (at, _), (wanted, _) in zip(told, kept):
                self.assertAlmostEqual(at, wanted, places=5)
            # Whoever goes past them does not hear them.
            last = max(time for time, _ in kept)
            first = next(i for i, (time, _) in enumerate(kept) if time == last)
            page.send(type="control", action="seek", value=last)
            page.send(type="control", action="step", value=1)
            self.assertEqual(page.told("event")["text"], kept[first][1].split(": ", 1)[1])
            page.close()
            self.assertEqual(program.stop(), 0, program.text())

    def test_a_phantom_races(self):
        with Tether("run", "frc2011", "--set", "web.listen=127.0.0.1:0", *WIRE) as program:
            page = Page(program.addresses["web"])
            page.send(type="phantom", add="../" + self.log.name)
            page.until(lambda message: isinstance(message, dict) and message["type"] == "error")
            page.send(type="phantom", add=self.log.name)
            told = page.until(lambda message: isinstance(message, dict) and message["type"] == "phantoms")["phantoms"]
            self.assertEqual([phantom["run"] for phantom in told], [self.log.name])
            self.assertTrue(told[0]["shapes"])
            self.assertTrue(all(0 <= shape["body"] < len(told[0]["bodies"]) for shape in told[0]["shapes"]))
            root = page.model["robots"][0]["root"]
            page.send(type="control", action="reset", robot=-1)
            # The time of frames goes on through the reset; the phantom has begun with it.
            page.until(lambda message: isinstance(message, dict) and message["type"] == "event" and message["text"] == "reset")
            clock = next(i for i, signal in enumerate(page.model["signals"]) if signal["name"] == "time")
            page.send(type="subscribe", number=1, signals=[clock], rate=10)
            samples = page.until(lambda message: isinstance(message, bytes) and message[0] == 2)
            begun = struct.unpack_from("<d", samples, 16)[0] - struct.unpack_from("<d", samples, 24)[0]
            time, bodies, racing = poses(page.until(lambda message: isinstance(message, bytes) and message[0] == 1
                                                    and 1.5 < poses(message)[0] - begun < 2.5))
            time -= begun
            number, seconds, metres, where = racing[0]
            self.assertEqual(number, told[0]["id"])
            self.assertEqual(len(where), len(told[0]["bodies"]))
            name = page.model["bodies"][root]["name"]
            first = [body["name"] for body in told[0]["bodies"]].index(name)
            plot = self.plot(program.addresses["web"], f"{name}.x", f"{name}.y")
            row = max(i for i, at in enumerate(plot["time"]) if at <= time + 1e-6)
            self.assertAlmostEqual(where[first][0], plot["values"][0][row], places=4)
            gone = ((where[first][0] - bodies[root][0]) ** 2 + (where[first][1] - bodies[root][1]) ** 2) ** 0.5
            self.assertAlmostEqual(metres, gone, places=4)
            self.assertGreater(metres, 0.05)
            self.assertGreater(seconds, 0)  # it left while we stood
            other = Page(program.addresses["web"])  # whoever comes later sees it too
            other.until(lambda message: isinstance(message, dict) and message["type"] == "phantoms")
            other.close()
            page.send(type="phantom", remove=told[0]["id"])
            page.until(lambda message: isinstance(message, dict) and message["type"] == "phantoms"
                       and message["phantoms"] == [])
            page.close()
            self.assertEqual(program.stop(), 0, program.text())

    def test_replay_onto_a_wire(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
            peer.bind(("127.0.0.1", 0))
            peer.settimeout(20)
            port = peer.getsockname()[1]
            with Tether("replay", self.log, "--wires", "--speed", "4", "--set", "web.listen=127.0.0.1:0", *WIRE,
                        "--set", f"wires.float-udp.peer=127.0.0.1:{port}") as program:
                times = []
                wait_for(lambda: times.append(struct.unpack("<f", peer.recv(2048)[:4])[0]) or len(times) > 20)
                self.assertEqual(times, sorted(times))
                self.assertEqual(program.stop(), 0, program.text())

    def test_replay_onto_a_wire_that_the_run_waited_for(self):
        """It goes on whether anybody is there, and answers."""
        log = FOLDER / "gripper.wpilog"
        listen = "--set", "wires.lockstep-tcp.listen=127.0.0.1:0"
        with Tether("run", "gripper", "--no-web", "--record", log, *listen) as program, join(program) as link:
            drive(link, 200)
            self.assertEqual(program.stop(), 0, program.text())
        with Tether("replay", log, "--wires", "--set", "web.listen=127.0.0.1:0", *listen) as program:
            page = Page(program.addresses["web"])
            page.until(lambda message: isinstance(message, bytes) and message[0] == 1 and poses(message)[0] > 0.5)
            with join(program) as link:
                for answers in False, True:
                    page.send(type="control", action="reset")
                    angles = []
                    for n in range(100):
                        if answers:
                            link.sendall(velocities(n))
                        angles.append(FRAME.unpack(receive(link))[1])
                    self.assertGreater(len(set(angles)), 50)
            page.close()
            self.assertEqual(program.stop(), 0, program.text())


if __name__ == "__main__":
    unittest.main()
