#!/usr/bin/env python3
"""What pages look up in a run that is still being recorded, and in one that has ended (docs/web.md)."""
import http.client
import json
import pathlib
import struct
import unittest

from support.live_page import Page, poses
from support.process import ROOT, STATE, Tether, wait_for


RUNS = pathlib.Path(STATE.name) / "tether" / "runs"
WIRES = ("--set", "wires.float-udp.bind=127.0.0.1:0", "--set", "web.listen=127.0.0.1:0")


class Asker:
    """HTTP requests to a program's pages."""

    def __init__(self, program):
        self.host = program.addresses["web"].removeprefix("http://")

    def ask(self, path, code=200):
        connection = http.client.HTTPConnection(self.host, timeout=20)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        assert answer.status == code, (path, answer.status, body[:300])
        return json.loads(body) if answer.headers["Content-Type"].startswith("application/json") else body

    def frames(self, run, query):
        body, found = self.ask(f"/api/runs/{run}/frames?{query}"), []
        while body:
            size = struct.unpack_from("<I", body)[0]
            found.append(poses(body[4:4 + size])[:2])
            body = body[4 + size:]
        return found

    def traces(self, run, query):
        body, found, at = self.ask(f"/api/runs/{run}/signals?format=binary&{query}"), [], 0
        while at < len(body):
            count, zero = struct.unpack_from("<II", body, at)
            assert zero == 0
            both = struct.unpack_from(f"<{2 * count}d", body, at + 8)
            found.append((both[:count], both[count:]))
            at += 8 + 16 * count
        return found


def near(self, one, other, far=2e-6):
    for a, b in zip(one, other, strict=True):
        for x, y in zip(a, b, strict=True):
            self.assertAlmostEqual(x, y, delta=far)


class Growing(unittest.TestCase):
    """A page drives a robot, and looks back while the log is being written."""

    @classmethod
    def setUpClass(cls):
        cls.program = Tether("run", "frc2011", *WIRES)
        cls.page = Page(cls.program.addresses["web"])
        cls.asker = Asker(cls.program)
        cls.log = cls.page.hello["recording"]
        cls.seen = [poses(cls.page.frame())[:2]]
        while cls.seen[-1][0] < 0.01:  # so that there is something before the command
            cls.seen.append(poses(cls.page.frame())[:2])
        cls.page.command(**{"left_track.torque": 8, "right_track.torque": 6})
        while cls.seen[-1][0] < 2:
            cls.seen.append(poses(cls.page.frame())[:2])
        wait_for(lambda: cls.end() > cls.seen[-1][0], "the log to have what was seen")

    @classmethod
    def end(cls):
        return cls.asker.ask(f"/api/runs/{cls.log}/values?at=1e6")["time"]

    @classmethod
    def tearDownClass(cls):
        cls.page.close()
        cls.program.__exit__()

    def test_the_present_run_is_the_kept_one(self):
        self.assertTrue((RUNS / self.log).is_file(), self.log)
        self.assertTrue(self.asker.ask("/api/runs/" + self.log)["recording"])

    def test_its_past_is_what_was_seen(self):
        kept = {round(at, 2): where for at, where in self.seen}
        self.assertGreater(len(kept), 10)
        moved = False
        for at in sorted(kept)[::5]:
            (time_there, where), = self.asker.frames(self.log, f"at={at}")
            self.assertAlmostEqual(time_there, at)
            near(self, where, kept[at])
            moved |= any(abs(a - b) > 0.01 for one, first in zip(where, kept[min(kept)]) for a, b in zip(one, first))
        self.assertTrue(moved, "the robot drove nowhere")

    def test_resets_are_counted(self):
        self.page.send(type="control", action="reset", robot=-1)
        wait_for(lambda: struct.unpack_from("<I", self.page.frame(), 16)[0] == 1, "the reset to be seen")
        seen = poses(self.page.frame())[0]
        wait_for(lambda: self.end() > seen + 0.1, "the log to have it")
        body, found = self.asker.ask(f"/api/runs/{self.log}/frames?from=1.9&to={seen + 0.1}&rate=100"), []
        while body:
            size = struct.unpack_from("<I", body)[0]
            found.append((struct.unpack_from("<I", body, 4 + 16)[0], poses(body[4:4 + size])[1]))
            body = body[4 + size:]
        epochs = [epoch for epoch, _ in found]
        self.assertEqual(sorted(set(epochs)), [0, 1])
        self.assertEqual(epochs, sorted(epochs))
        first = self.seen[0][1]

        def moved(where):
            return max(abs(a - b) for one, other in zip(where, first) for a, b in zip(one[:3], other[:3]))
        new = epochs.index(1)
        self.assertGreater(moved(found[new - 1][1]), 0.3, "it drove until the reset")
        self.assertLess(moved(found[new + 1][1]), 0.05, "and begins where it began")

    def test_a_stretch_of_frames(self):
        all_of_it = self.asker.frames(self.log, "from=0.5&to=1.5&rate=20")
        self.assertEqual([round(at, 6) for at, _ in all_of_it], [round(0.5 + i / 20, 6) for i in range(21)])
        (_, alone), = self.asker.frames(self.log, "at=1.25")
        near(self, all_of_it[15][1], alone, 0)
        self.assertEqual(len(self.asker.frames(self.log, "from=0&to=1&rate=10000")), 2000)
        self.assertEqual(self.asker.frames(self.log, "from=2&to=1"), [])

    def test_its_model_and_meshes(self):
        model = self.asker.ask(f"/api/runs/{self.log}/model")
        for key in "bodies", "joints", "signals", "commands", "shapes", "lines":
            self.assertEqual(model[key], self.page.model[key], key)
        for mesh in range(model["meshes"]):
            self.assertEqual(self.asker.ask(f"/api/runs/{self.log}/meshes/{mesh}"), self.asker.ask(f"/api/meshes/{mesh}"))
        for none in "9999", "x", "":
            self.asker.ask(f"/api/runs/{self.log}/meshes/{none}", 404)

    def test_messages_are_accepted_commands(self):
        messages = self.asker.ask(f"/api/runs/{self.log}/messages?before=1.6")
        self.assertEqual([(message["source"], value["name"], value["value"], value["unit"])
                          for message in messages for value in message["values"]],
                         [("web", "left_track.torque", 8, "N·m"), ("web", "right_track.torque", 6, "N·m")])
        times = [message["time"] for message in messages]
        self.assertEqual(times, sorted(times))
        self.assertEqual(self.asker.ask(f"/api/runs/{self.log}/messages?limit=1"), messages[1:])
        self.assertEqual(self.asker.ask(f"/api/runs/{self.log}/messages?before={times[0] - 0.001:.6f}"), [])

    def test_values_at_a_time(self):
        answer = self.asker.ask(f"/api/runs/{self.log}/values?at=1.234")
        self.assertEqual(answer["time"], 1.234)
        values = answer["values"]
        self.assertEqual(len(values), len([one for one in self.page.model["signals"] if one["name"] != "real_time_factor"]))
        self.assertAlmostEqual(values["time"], 1.23, delta=0.011)
        self.assertEqual(values["command:left_track.torque"], 8)
        (_, where), = self.asker.frames(self.log, "at=1.234")
        names = [body["name"] for body in self.page.model["bodies"]]
        robot = self.page.model["robots"][0]["root"]
        for axis, place in zip("xyz", where[robot]):
            self.assertAlmostEqual(values[f"{names[robot]}.{axis}"], place, delta=2e-6)


class Ended(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Tether("run", ROOT / "tests/scenes/good/one.yaml", "--pace", "fast", "--duration", "15", "--no-web") as first:
            assert first.wait_exit() == 0, first.text()
        cls.log, = (path.name for path in RUNS.glob("*one.wpilog"))
        cls.program = Tether("run", "frc2011", *WIRES, "--set", "record.on=off")
        cls.asker = Asker(cls.program)

    @classmethod
    def tearDownClass(cls):
        cls.program.__exit__()

    def test_nothing_is_recorded(self):
        page = Page(self.program.addresses["web"])
        self.assertEqual(page.hello["recording"], "")
        page.close()

    def test_a_stretch_of_signals(self):
        names = "name=time&name=step&points=20000"
        whole = self.asker.ask(f"/api/runs/{self.log}/signals?{names}")
        part = self.asker.ask(f"/api/runs/{self.log}/signals?{names}&from=11.004&to=12.997")
        inside = [i for i, at in enumerate(whole["time"]) if 11.004 < at < 12.997]
        self.assertEqual(part["time"], [11.004, *(whole["time"][i] for i in inside), 12.997])
        for now, all_of_it in zip(part["values"], whole["values"]):
            held = [all_of_it[i] for i in inside]
            self.assertEqual(now, [all_of_it[inside[0] - 1], *held, held[-1]])
        binary = self.asker.traces(self.log, names + "&from=11.004&to=12.997")
        self.assertEqual([(list(times), list(values)) for times, values in binary],
                         [(part["time"], values) for values in part["values"]])

    def test_extremes_of_a_stretch(self):
        names = "name=time&name=step"
        whole = self.asker.ask(f"/api/runs/{self.log}/signals?{names}&points=20000&from=2&to=14")
        thin = self.asker.ask(f"/api/runs/{self.log}/signals?{names}&points=100&from=2&to=14")
        self.assertLessEqual(len(thin["time"]), 102)
        for all_of_it, few in zip(whole["values"], thin["values"]):
            self.assertEqual((min(all_of_it), max(all_of_it)), (min(few), max(few)))
            self.assertTrue(set(few) <= set(all_of_it))

    def test_what_makes_no_sense_is_refused(self):
        for path in ("signals?name=time&from=x", "signals?name=time&to=-1", "frames?at=nan", "frames?rate=0", "values?at=1e400",
                     "messages?limit=0", "messages?limit=1001", "signals?name=time&format=xml", "values?at=%ff"):
            self.asker.ask(f"/api/runs/{self.log}/{path}", 400)
        self.asker.ask(f"/api/runs/{self.log}/nothing", 404)
        self.asker.ask("/api/runs/nosuch.wpilog/frames", 404)


if __name__ == "__main__":
    unittest.main()
