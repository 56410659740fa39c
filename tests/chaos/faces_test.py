#!/usr/bin/env python3
"""Strangers at every face of `tether run`: who may bind, who may call, how many, how slowly, and what they may ask."""
import contextlib
import json
import multiprocessing
import os
import pathlib
import re
import select
import socket
import stat
import statistics
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree
import zlib

HERE = pathlib.Path(__file__).parent
from support.telemetry import WebSocket
from support.live_page import Page
from support.process import TETHER, Tether, at_best, wait_for

SCENE = HERE / "soak.yaml"
QUIET = ("--set", "record.on=off", "--set", "pace=realtime")
PUBLIC = (("frc2011", "wires.float-udp.bind"), ("gripper", "wires.lockstep-tcp.listen"),
          ("ezphysics", "wires.ezphysics.listen"), ("sharp", "wires.sharp-json.bind"),
          ("xrp", "wires.xrp.bind"), ("robocar", "wires.sharp-json.bind"),
          ("robocar", "telemetry.listen"), ("frc2011", "web.listen"))


def tcp(tether, name):
    host, port = tether.addresses[name].removeprefix("http://").rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=20)


def request(url, method="GET", body=None, **headers):
    """(status, text)"""
    asked = urllib.request.Request(url, method=method, data=body, headers={k.replace("_", "-"): v for k, v in headers.items()})
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def flood(web, path, frames):
    """Sends them until it is killed, over new connections when one is cut. What is answered is read."""
    block = frames * (65536 // len(frames) + 1)
    while True:
        stream = WebSocket(web, path)
        with contextlib.suppress(OSError):
            while True:
                stream.socket.settimeout(1)
                stream.socket.sendall(block)
                stream.socket.settimeout(0)
                with contextlib.suppress(BlockingIOError):
                    while stream.socket.recv(1 << 20):
                        pass
        stream.close()


def descriptors(tether):
    return len(os.listdir(f"/proc/{tether.process.pid}/fd"))


class Faces(unittest.TestCase):
    def test_no_face_opens_to_the_world_unasked(self):
        faces = [(("run", scene, *QUIET, "--duration", "1"), key) for scene, key in PUBLIC]
        faces += [(("collect",), "telemetry.listen"), (("collect",), "web.listen"), (("joystick",), "bind"),
                  (("core",), "joystick.bind"), (("core",), "vehicle.bind")]
        for n, (command, key) in enumerate(faces):
            everywhere = ("0.0.0.0:0", "[::]:0")[n % 2]
            # What else it opens may be open elsewhere.
            others = [word for other, face in faces if other == command for word in ("--set", f"{face}=127.0.0.1:0")]
            result = subprocess.run([TETHER, *command, *others, "--set", f"{key}={everywhere}"], stdin=subprocess.DEVNULL,
                                    capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 1, f"{command} {key}: {result.stderr}")
            self.assertRegex(result.stderr, "allow" if key != "web.listen" else "web.token")

    def test_what_is_kept_is_its_owners_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder, "state")  # made by the program
            modes = {}
            before = os.umask(0o022)
            try:
                for command in (("run", SCENE, "--set", "pace=realtime", "--set", "telemetry.store=none:"), ("collect",)):
                    with Tether(f"XDG_STATE_HOME={home}", TETHER, *command, "--set", "telemetry.listen=127.0.0.1:0", "--set",
                                "web.listen=127.0.0.1:0", program="/usr/bin/env") as tether:
                        web = tether.addresses["web"]
                        message = b'<MESSAGE id="a" time="1"><O time="0"><d v="1"/></O></MESSAGE>'
                        if command[0] == "collect":
                            self.assertEqual(request(web + "/telemetry", "POST", message)[0], 200)
                        else:
                            self.assertEqual(request(web + "/api/trials")[0], 200)
                        modes |= {str(path): path.stat().st_mode for path in [home, *home.rglob("*")]}
                        self.assertEqual(tether.stop(), 0, tether.text())
            finally:
                os.umask(before)
            for kind in ("runs/", "trials/trials.sqlite", "telemetry/telemetry.sqlite", "telemetry/telemetry.sqlite-wal"):
                self.assertTrue(any(kind in name for name in modes), (kind, modes))
            wrong = {name: oct(mode) for name, mode in modes.items() if mode not in (stat.S_IFDIR | 0o700, stat.S_IFREG | 0o600)}
            self.assertEqual(wrong, {})

    def test_pages_of_other_sites_are_refused(self):
        with Tether("run", SCENE, *QUIET) as tether:
            web = tether.addresses["web"]
            for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"},
                            {"Host": "evil.example", "Origin": "http://evil.example"}):
                stream = WebSocket(web, "/live", headers)
                self.assertEqual(stream.status, 403, headers)
                stream.close()
                for path in "/", "/api/runs", "/api/trials":
                    self.assertEqual(request(web + path, **headers)[0], 403, (path, headers))
                self.assertEqual(request(web + "/api/trials", "POST", b"{}", **headers)[0], 403, headers)

    def test_a_flood_on_one_websocket_delays_nobody(self):
        def wait_of(web):
            begun = time.monotonic()
            self.assertEqual(request(web + "/api/trials")[0], 200)
            return time.monotonic() - begun

        def frame(opcode, payload=b""):  # with a mask that changes nothing
            return bytes([opcode, 0x80 | len(payload)]) + bytes(4) + payload

        floods = (("/live", frame(0x89)), ("/telemetry/in", frame(0x89, b"x" * 125)), ("/live", frame(0x8a)), ("/live", frame(0x81, b"{}")),
                  ("/telemetry/in", frame(0x81)), ("/telemetry/live", frame(0x82, b"x")), ("/live", frame(1, b"x") + frame(0, b"x") * 4000))
        with Tether("run", SCENE, *QUIET) as tether:
            web = tether.addresses["web"]
            quiet = statistics.median(wait_of(web) for _ in range(20))
            for path, frames in floods:
                flooder = multiprocessing.get_context("fork").Process(target=flood, args=(web, path, frames))
                flooder.start()
                try:
                    time.sleep(0.1)
                    with self.subTest(path=path, frames=frames[:9], quiet=quiet):
                        at_best(lambda: statistics.median(wait_of(web) for _ in range(20)), 0.05 + 10 * quiet)
                finally:
                    flooder.kill()
                    flooder.join()
                self.assertLess(wait_of(web), 5, (path, frames[:9]))
            self.assertNotIn("CRITICAL", tether.text())

    def test_a_flood_costs_no_memory(self):
        def resident():
            return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{tether.process.pid}/status").read_text(encoding="utf-8"))[1])

        ping, fragment = b"\x89\xfd" + bytes(4 + 125), b"\x00\xfd" + bytes(4 + 125)
        with Tether("run", SCENE, *QUIET) as tether:
            web = tether.addresses["web"]
            before = resident()
            for path, first, frames in (("/live", b"", ping), ("/telemetry/in", b"", ping), ("/live", b"\x01\x80" + bytes(4), fragment)):
                stream = WebSocket(web, path)  # whose answers nobody reads, and whose message never ends
                stream.socket.settimeout(0.5)
                sent = 0
                with contextlib.suppress(OSError):
                    stream.socket.sendall(first)
                    for sent in range(0, 64 << 20, len(frames) * 1000):
                        stream.socket.sendall(frames * 1000)
                self.assertLess(sent, 32 << 20, path)
                self.assertLess(resident() - before, 24 << 10, path)
                stream.close()
                self.assertEqual(request(web + "/api/trials")[0], 200)

    def test_a_frame_that_unpacks_without_end(self):
        def most_resident():
            return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{tether.process.pid}/status").read_text(encoding="utf-8"))[1])

        pack = zlib.compressobj(9, wbits=-15)
        payload = (pack.compress(b" " * (48 << 20)) + pack.flush(zlib.Z_SYNC_FLUSH))[:-4]
        with Tether("run", SCENE, *QUIET) as tether:
            web = tether.addresses["web"]
            before = most_resident()
            for path in "/telemetry/in", "/live", "/telemetry/live":
                with self.subTest(path=path):
                    stream = WebSocket(web, path, {"Sec-WebSocket-Extensions": "permessage-deflate"})
                    self.assertEqual(stream.status, 101)
                    self.assertNotIn(b"permessage-deflate", stream.head)
                    with contextlib.suppress(ConnectionError):
                        stream.send(payload, opcode=0x41)  # text that says it is compressed
                        while stream.socket.recv(1 << 20):
                            pass
                    stream.close()
                    self.assertLess(most_resident() - before, 24 << 10)
            self.assertEqual(request(web + "/api/trials")[0], 200)

    def test_paths_lead_nowhere_else(self):
        with Tether("run", SCENE, *QUIET) as tether:
            for path in ("/../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
                         "/api/runs/..%2f..%2f..%2fetc%2fpasswd", "/api/runs/%2Fetc%2Fpasswd", "/api/runs/a%00b",
                         "/api/meshes/-1", "/api/meshes/99999999999999999999", "/api/meshes/..", "/%ff%fe", "/" + "a" * 5000):
                with tcp(tether, "web") as link:
                    link.sendall(f"GET {path} HTTP/1.1\r\nHost: {tether.addresses['web'][7:]}\r\n\r\n".encode("latin-1"))
                    answer = link.recv(65536)
                self.assertRegex(answer, rb"^HTTP/1.1 4\d\d ", path)
                self.assertNotIn(b"root:", answer)

    def test_what_a_page_sends_wrongly_changes_nothing(self):
        bad = ["", "{", "[]", "null", "1e999", "{}", '{"type":5}', '{"type":"nothing"}', '{"type":"command"}',
               '{"type":"command","values":[[0,1e999]]}', '{"type":"command","values":[[0,NaN]]}',
               '{"type":"command","values":[[-1,0]]}', '{"type":"command","values":[[99999,0]]}',
               '{"type":"control","action":"speed","value":1e308}', '{"type":"control","action":"seek","value":-1e308}',
               '{"type":"subscribe","number":1,"signals":[' + ",".join("0" * 5000) + "]}",
               '{"type":"joystick","core":"10.0.0.1:99999"}', '{"type":"phantom","add":"../../etc/passwd"}',
               "[" * 100000, '{"type":' * 200 + "1" + "}" * 200, "\ud800"]
        with Tether("run", SCENE, *QUIET) as tether:
            watch = Page(tether.addresses["web"])
            for text in bad:
                stream = WebSocket(tether.addresses["web"], "/live", {"Origin": tether.addresses["web"]})
                self.assertEqual(stream.status, 101)
                try:
                    stream.send(text.encode("utf-8", "surrogatepass"))
                    stream.send(b"\xff" * 20, 2)
                    stream.socket.sendall(b"\x81\xff" + (2 ** 62).to_bytes(8, "big"))  # a frame of 2^62 bytes, announced
                except OSError:
                    pass
                stream.close()
            status = watch.until(lambda m: isinstance(m, dict) and m["type"] == "status")
            later = watch.until(lambda m: isinstance(m, dict) and m["type"] == "status" and m["time"] > status["time"] + 0.1)
            self.assertFalse(later["paused"] or later["stopped"])
            self.assertEqual((later["speed"], later["wires"][0]["accepted"]), (1, 0))
            watch.close()
            self.assertEqual(tether.stop(), 0)

    def test_one_value_out_of_its_range_spoils_all_that_a_page_commands(self):
        with Tether("run", SCENE, *QUIET) as tether:
            page = Page(tether.addresses["web"])
            (good, bad), signals = page.model["commands"][:2], [one["name"] for one in page.model["signals"]]
            page.send(type="subscribe", number=1, signals=[signals.index(f"command:{good['name']}")], rate=100)
            values = lambda m: isinstance(m, bytes) and m[0] == 2 and struct.unpack_from("<d", m, len(m) - 8)
            before = values(page.until(values))
            page.send(type="command", values=[[0, good["upper"] / 2], [1, 2 * bad["upper"]]])
            self.assertEqual(page.told("error")["text"], f"command: {bad['name']}: {2 * bad['upper']:g} is out of its range; in SI it is "
                             f"{bad['lower']:g} to {bad['upper']:g}")
            page.send(type="command", values=[[1, bad["upper"] / 2]])  # is heard after it
            page.send(type="subscribe", number=2, signals=[signals.index(f"command:{name}") for name in (good["name"], bad["name"])], rate=100)
            both = lambda m: isinstance(m, bytes) and m[0] == 2 and m[2] == 2 and struct.unpack_from("<2d", m, len(m) - 16)
            self.assertEqual(both(page.until(lambda m: both(m) and both(m)[1] == bad["upper"] / 2))[:1], before)
            page.close()
            self.assertEqual(tether.stop(), 0)

    def test_what_a_page_commanded_is_safe_when_it_is_gone(self):
        with Tether("run", SCENE, *QUIET) as tether:
            watch, drive, other = (Page(tether.addresses["web"]) for _ in range(3))
            commands, signals = watch.model["commands"][:2], [one["name"] for one in watch.model["signals"]]
            watch.send(type="subscribe", number=1, signals=[signals.index(f"command:{one['name']}") for one in commands], rate=100)
            values = lambda m: isinstance(m, bytes) and m[0] == 2 and struct.unpack_from("<2d", m, len(m) - 16)
            seen = lambda *wanted: watch.until(lambda m: values(m) == wanted)
            full = [one["upper"] / 2 for one in commands]
            safe = values(watch.until(values))
            drive.send(type="command", values=[[0, full[0]], [1, full[1]]])
            seen(*full)
            other.send(type="command", values=[[1, full[1] / 2]])  # who commanded last commands
            seen(full[0], full[1] / 2)
            drive.close()  # without a word
            seen(safe[0], full[1] / 2)
            other.close()
            seen(*safe)
            watch.close()
            self.assertEqual(tether.stop(), 0)

    def test_a_page_that_goes_takes_nothing_from_who_drives_now(self):
        """One of another face; the log of it repeats exactly."""
        with tempfile.TemporaryDirectory() as folder:
            with Tether("run", SCENE, "--set", "pace=realtime", "--set", f"record.folder={folder}", "--set",
                        "foxglove={listen: '127.0.0.1:0', commands: on}") as tether:
                watch, drive = (Page(tether.addresses["web"]) for _ in range(2))
                viewer = WebSocket("http://" + tether.addresses["foxglove"], "/", {"Sec-WebSocket-Protocol": "foxglove.sdk.v1"})
                signals = [one["name"] for one in watch.model["signals"]]
                (mine, first), (theirs, second) = ((i, one) for i, one in enumerate(watch.model["commands"][:2]))
                watch.send(type="subscribe", number=1, signals=[signals.index(f"command:{one['name']}") for one in (first, second)], rate=100)
                values = lambda m: isinstance(m, bytes) and m[0] == 2 and struct.unpack_from("<2d", m, len(m) - 16)
                seen = lambda *wanted: watch.until(lambda m: values(m) == wanted)
                full = [one["upper"] / 2 for one in (first, second)]
                drive.send(type="command", values=[[mine, full[0]], [theirs, full[1]]])
                seen(*full)
                viewer.send(json.dumps({"op": "setParameters", "parameters": [{"name": second["name"], "value": full[1] / 4}]}))
                seen(full[0], full[1] / 4)
                drive.close()
                seen(0, full[1] / 4)
                viewer.close()
                seen(0, 0)
                watch.close()
                self.assertEqual(tether.stop(), 0)
            log, = pathlib.Path(folder).glob("*.wpilog")
            subprocess.run([TETHER, "verify", log], check=True, capture_output=True, timeout=120)

    def test_how_a_joystick_stands_is_never_lost(self):
        """A tick lasts so long that what a page commands meanwhile fills the mailbox; who moves a joystick says so once."""
        with Tether("run", SCENE, "--set", "record.on=off", "--set", "io_period=40 s") as tether:
            page, watch = (Page(tether.addresses["web"]) for _ in range(2))
            plugged = lambda *wanted: watch.until(lambda m: isinstance(m, dict) and m["type"] == "status" and
                                                  m["stations"][0]["sticks"] == list(wanted))
            told = []
            for turn in range(3):
                page.send(type="stick", robot=0, stick=turn, axes=[1])
                plugged(turn)
                for i in range(1000):
                    page.send(type="command", values=[[0, i / 1e4]])
                page.send(type="stick", robot=0, stick=turn)
                plugged()
                page.send(type="command", values=[[-1, 0]])  # its answer comes after that to the joystick
                told.append(page.told("error")["text"])
            self.assertNotIn("the world is busy; try again", told)
            page.send(type="stick", robot=-1, stick=2, axes=[0.5])
            page.send(type="stick", robot=0, stick=5, buttons=[True])
            plugged(2, 5)
            page.close()  # without a word
            plugged()
            watch.close()
            self.assertEqual(tether.stop(), 0)

    def test_a_page_that_leaves_unplugs_what_no_other_moved_since(self):
        with Tether("run", SCENE, *QUIET) as tether:
            page, other, watch = (Page(tether.addresses["web"]) for _ in range(3))
            plugged = lambda *wanted: watch.until(lambda m: isinstance(m, dict) and m["type"] == "status" and
                                                  m["stations"][0]["sticks"] == list(wanted))
            for stick in 0, 1:
                page.send(type="stick", robot=0, stick=stick, axes=[1])
            plugged(0, 1)
            other.send(type="stick", robot=-1, stick=0, axes=[-1])
            other.send(type="stick", robot=0, stick=2, axes=[-1])
            plugged(0, 1, 2)
            page.close()
            plugged(0, 2)
            other.close()
            plugged()
            watch.close()
            self.assertEqual(tether.stop(), 0)

    def test_two_hundred_that_never_finish_their_sentence(self):
        """Among them a good page is served; five seconds later they are gone."""
        with Tether("run", SCENE, *QUIET) as tether:
            before = descriptors(tether)
            slow = [tcp(tether, "web") for _ in range(200)]
            for link in slow:
                link.sendall(b"GET / HTTP/1.1\r\nHost: 1")
            page = Page(tether.addresses["web"])
            page.frame()
            page.close()
            for link in slow:
                link.settimeout(20)
                self.assertIn(link.recv(1000)[:1], (b"", b"H"))
                link.close()
            wait_for(lambda: descriptors(tether) <= before + 1, "their descriptors are free")

    def test_frames_that_never_end(self):
        """Begun and left, or a byte now and then: cut after five seconds. Who only pings, or says nothing, stays."""
        with Tether("run", SCENE, *QUIET) as tether:
            web = tether.addresses["web"]
            good, silent = (WebSocket(web, "/telemetry/in") for _ in range(2))
            bad = {WebSocket(web, path).socket for path in ("/telemetry/in", "/live", "/telemetry/in")}
            dripping = next(iter(bad))
            start = time.monotonic()
            for link in bad:
                link.sendall(b"\x81\xe4" + bytes(4) + b"<MESS")  # of 100 bytes
            good.send(b"", 9)
            answers = []
            listener = threading.Thread(target=lambda: answers.append(good.receive()), daemon=True)
            listener.start()
            while bad:
                self.assertLess(time.monotonic() - start, 15, "they are not cut")
                for link in select.select(list(bad), [], [], 0.2)[0]:
                    if not self.reads(link):
                        bad.remove(link)
                        link.close()
                if dripping in bad:
                    with contextlib.suppress(OSError):
                        dripping.send(b" ")
            self.assertGreater(time.monotonic() - start, 4.5)
            good.send("<no message/>")  # both are still heard
            listener.join(10)
            silent.send("<no message/>")
            self.assertIn("refused", answers[0])
            self.assertIn("refused", silent.receive())
            good.close()
            silent.close()

    @staticmethod
    def reads(link):
        try:
            return link.recv(1 << 20)
        except ConnectionError:
            return b""

    def test_more_than_the_cap_and_then_again_a_good_one(self):
        with Tether("run", SCENE, *QUIET, "--set", "web.max_connections=20", "--set", "telemetry.max_connections=20") as tether:
            for name in "web", "robocar-xml":
                many = [tcp(tether, name) for _ in range(70)]
                closed = 0
                for link in many[20:]:
                    try:
                        closed += link.recv(1000) == b""
                    except ConnectionResetError:
                        closed += 1
                self.assertEqual(closed, 50, name)
                for link in many:
                    link.close()
            wait_for(lambda: self.served(tether), "a good one is served")
            tether.wait_line("refused")

    def served(self, tether):
        try:
            return request(tether.addresses["web"] + "/api/runs")[0] == 200
        except OSError:
            return False

    def test_no_descriptor_left(self):
        """With 60 descriptors in all, 100 come: it says no to them without spinning, and is well afterwards."""
        with Tether("run", SCENE, *QUIET) as tether:
            self.assertTrue(self.served(tether))
            subprocess.run(["prlimit", "--pid", str(tether.process.pid), "--nofile=60:60"], check=True)
            many = [tcp(tether, ("web", "robocar-xml")[n % 2]) for n in range(100)]
            tether.wait_line("descriptor")
            used = self.processor_time(tether)
            page = None
            wait_for(lambda: len(tether.lines) > 2, "it lives")
            self.assertLess(len(tether.lines), 100)  # nor does it fill the log
            spent = self.processor_time(tether) - used
            for link in many:
                link.close()
            wait_for(lambda: self.served(tether), "a good one is served")
            page = Page(tether.addresses["web"])
            page.frame()
            page.close()
            self.assertLess(spent, 5)  # s; a loop that spins would never have come here
            self.assertEqual(tether.stop(), 0)

    def processor_time(self, tether):
        fields = pathlib.Path(f"/proc/{tether.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_what_is_missing_is_answered_with_the_remedy(self):
        """No store, no log, no such mesh: every path that can be asked answers, with JSON that says what to do."""
        asked = {"/telemetry.xml": "set telemetry.store", "/telemetry.csv": "set telemetry.store",
                 "/telemetry.json?limit=1": "set telemetry.store", "/telemetry.csv?device=nobody": "there is no device",
                 "/telemetry/devices/nobody": "no such device", "/telemetry/attributes/nothing": "no such attribute",
                 "/api/runs/nothing.wpilog": "", "/api/meshes/9999": "no such mesh", "/api/textures/9999": "no such texture",
                 "/nothing": "nothing at this path"}
        with Tether("run", SCENE, *QUIET) as tether:
            for path, remedy in asked.items():
                status, text = request(tether.addresses["web"] + path)
                self.assertIn(status, (400, 404), path)
                self.assertIn(remedy, json.loads(text)["error"], path)
            status, text = request(tether.addresses["web"] + "/telemetry/status")
            self.assertEqual((status, json.loads(text)["store"]), (200, "none"))
            self.assertEqual(tether.stop(), 0)
        free = ("--set", "wires.float-udp.bind=127.0.0.1:0", "--set", "web.listen=127.0.0.1:0")
        with Tether("run", "frc2011", *QUIET, *free) as tether:  # a scene without telemetry
            for path in "/telemetry.xml", "/telemetry.csv", "/telemetry.json", "/telemetry/status", "/telemetry/devices/x":
                status, text = request(tether.addresses["web"] + path)
                self.assertEqual(status, 404, path)
                self.assertIn("telemetry.store", json.loads(text)["error"], path)

    def test_a_store_that_fails_is_answered_with_the_reason(self):
        """Its file is gone to where no reader finds it: the answer says so, instead of closing."""
        with tempfile.TemporaryDirectory() as folder:
            with Tether("run", SCENE, *QUIET, "--set", f"telemetry.store=sqlite:{folder}/t") as tether:
                self.assertEqual(request(tether.addresses["web"] + "/telemetry.csv")[0], 200)
                for file in pathlib.Path(folder).iterdir():
                    file.unlink()
                status, text = request(tether.addresses["web"] + "/telemetry.csv")
                self.assertEqual(status, 503, text)
                self.assertTrue(json.loads(text)["error"])

    def test_what_goes_out_as_xml_is_xml(self):
        """Names and values that are markup, or no text at all, come out as text or were refused at the door."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        nasty = ["<&]]>\"'", "]]><evil/>", "&lt;", "a&#0;b", "\x01\x1f", "\ufffe", "caf\u00e9 \u2028 \U0001f916"]
        with Tether("run", SCENE, *QUIET, "--set", f"telemetry.store=sqlite:{folder.name}/t") as tether:
            web = tether.addresses["web"]
            for n, text in enumerate(nasty):
                value = re.sub("[&<'\"]", lambda m: f"&#{ord(m[0])};", text) if n != 3 else text
                body = f"<MESSAGE id='N{n}{value}' time='1000'><S time='1'><d v='{value}'/></S></MESSAGE>"
                status, _ = request(web + "/telemetry", "POST", body.encode("utf-8"))
                self.assertEqual(status, 400 if n in (3, 4, 5) else 200, repr(text))
                request(web + "/telemetry/attributes/S.d.v", "PUT", json.dumps({"name": text}).encode())
            status, table = request(web + "/telemetry.xml")
            self.assertEqual(status, 200, table)
            self.assertEqual(ElementTree.fromstring(table).findall(".//evil"), [])


if __name__ == "__main__":
    unittest.main()
