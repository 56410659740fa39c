#!/usr/bin/env python3
"""Phantoms in company: several at once, of another robot and scene, and beside several live robots."""
import http.client
import math
import pathlib
import subprocess
import unittest

from support.live_page import Page, poses
from support.process import STATE, TETHER, Tether


FOLDER = pathlib.Path(STATE.name)
RUNS = FOLDER / "tether" / "runs"
ALONE = """arena: frc2011
timestep: 1/3000 s
io_period: 10 ms
robots:
  - {robot: frc2011, name: blue, alliance: blue, x: -6.8 m, y: 0 m}
"""
RED = "  - {robot: frc2011, name: red, alliance: red, x: 6.8 m, y: 0 m, heading: 180 deg}\n"


def scene(name, text):
    path = FOLDER / f"{name}.yaml"
    path.write_text(text)
    return path


def record(where, name, *settings):
    """A short run in which nobody drives."""
    RUNS.mkdir(parents=True, exist_ok=True)
    values = [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run([TETHER, "run", where, "--pace", "fast", "--duration", "0.3", "--no-web", "--record",
                           RUNS / f"{name}.wpilog", *values], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return f"{name}.wpilog"


def live(where, *arguments):
    return Tether("run", where, "--set", "web.listen=127.0.0.1:0", *arguments)


def add(page, run):
    """Races `run`, and the phantom as the page is told of it."""
    page.send(type="phantom", add=run)
    return page.told("phantoms")["phantoms"][-1]


def root_of(phantom, name):
    return next(i for i, body in enumerate(phantom["bodies"]) if body["name"] == name)


def show(page, wanted):
    """The next frame for whose time and phantoms `wanted` is true."""
    return poses(page.until(lambda message: isinstance(message, bytes) and message[0] == 1
                            and wanted(*poses(message)[::2])))


class Phantoms(unittest.TestCase):
    def assert_identical(self, log):
        done = subprocess.run([TETHER, "verify", log], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("identical: ", done.stdout)

    def test_one_that_went_on_from_another_stands_where_it_begins(self):
        alone = scene("alone", ALONE)
        whole = record(alone, "whole", "robots.blue.x=5 m")
        done = subprocess.run([TETHER, "run", "--from", RUNS / (whole + "@0.2"), "--pace", "fast", "--no-web", "--duration", "0.3", "--record", RUNS / "part.wpilog"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with live(alone) as program:
            page = Page(program.addresses["web"])
            told = add(page, "part.wpilog")
            page.send(type="control", action="reset", robot=-1)
            page.until(lambda message: isinstance(message, dict) and message["type"] == "event" and message["text"] == "reset")
            name = page.model["bodies"][page.model["robots"][0]["root"]]["name"]
            _, _, racing = show(page, lambda time, racing: len(racing) == 1)
            self.assertAlmostEqual(racing[0][3][root_of(told, name)][0], 5, delta=0.2)
            page.close()
            self.assertEqual(program.stop(), 0, program.text())

    def test_several_come_and_go_each_in_its_place(self):
        alone = scene("alone", ALONE)
        places = {record(alone, f"at{x}", f"robots.blue.x={x} m"): x for x in (-5, 0, 5)}
        log = FOLDER / "watched.wpilog"
        with live(alone, "--record", log) as program:
            page = Page(program.addresses["web"])
            told = {run: add(page, run) for run in places}
            self.assertEqual(len({phantom["id"] for phantom in told.values()}), 3)
            root = page.model["robots"][0]["root"]
            _, bodies, racing = show(page, lambda time, racing: time > 0.3 and len(racing) == 3)
            for run, (number, seconds, metres, where) in zip(places, racing):
                self.assertEqual(number, told[run]["id"])
                there = where[root_of(told[run], page.model["bodies"][root]["name"])]
                self.assertAlmostEqual(there[0], places[run], delta=0.2)
                self.assertAlmostEqual(metres, math.dist(there[:2], bodies[root][:2]), places=4)
                self.assertTrue(math.isfinite(seconds))
            gone, *kept = [told[run]["id"] for run in ("at0.wpilog", "at-5.wpilog", "at5.wpilog")]
            page.send(type="phantom", remove=gone)
            self.assertEqual([phantom["id"] for phantom in page.told("phantoms")["phantoms"]], kept)
            again = add(page, "at0.wpilog")["id"]
            self.assertNotIn(again, [gone, *kept])
            _, _, racing = show(page, lambda _, racing: len(racing) == 3)
            self.assertEqual([number for number, *_ in racing], [*kept, again])
            page.send(type="phantom", remove=gone)
            self.assertIn("no such phantom", page.told("error")["text"])
            for _ in range(5):
                add(page, "at5.wpilog")
            page.send(type="phantom", add="at5.wpilog")
            self.assertIn("no more than 8", page.told("error")["text"])
            page.close()
            self.assertEqual(program.stop(), 0, program.text())
        self.assert_identical(log)  # which knows of no phantom

    def test_one_of_another_robot_and_scene_brings_its_own_looks(self):
        run = record("sharp", "sharp", "wires.sharp-json.bind=127.0.0.1:0")
        log = FOLDER / "guest.wpilog"
        with live("frc2011", "--set", "wires.float-udp.bind=127.0.0.1:0", "--record", log) as program:
            page = Page(program.addresses["web"])
            guest = add(page, run)
            self.assertEqual(guest["name"], "sharp")
            self.assertIn("carriage", [body["name"] for body in guest["bodies"]])
            meshes = {shape["mesh"] for shape in guest["shapes"]} - {-1}
            connection = http.client.HTTPConnection(program.addresses["web"].removeprefix("http://"), timeout=20)
            for mesh in meshes:
                connection.request("GET", f"/api/meshes/{mesh}")
                answer = connection.getresponse()
                self.assertEqual(answer.status, 200)
                self.assertTrue(answer.read())
            connection.close()
            live_root = page.model["robots"][0]["root"]
            _, bodies, ((_, seconds, metres, where),) = show(page, lambda time, racing: time > 0.3 and racing)
            self.assertEqual(len(where), len(guest["bodies"]))
            self.assertAlmostEqual(where[0][0], 0, delta=0.2)
            self.assertAlmostEqual(where[0][1], -197 * 0.0254, delta=0.2)
            self.assertAlmostEqual(metres, math.dist(where[0][:2], bodies[live_root][:2]), places=4)
            self.assertTrue(math.isfinite(seconds))
            page.close()
            self.assertEqual(program.stop(), 0, program.text())
        self.assert_identical(log)

    def test_beside_several_live_robots_it_races_its_namesake(self):
        alone, both = scene("alone", ALONE), scene("both", ALONE.replace("robots:\n", "robots:\n" + RED))
        kept, log = RUNS / "driven.wpilog", FOLDER / "both.wpilog"
        RUNS.mkdir(parents=True, exist_ok=True)
        with live(alone, "--set", "speed=4", "--record", kept) as program:
            page = Page(program.addresses["web"])
            page.command(**{"left_track.torque": 8, "right_track.torque": 8})
            show(page, lambda time, _: time > 2.5)
            page.close()
            self.assertEqual(program.stop(), 0, program.text())
        with live(both, "--set", "speed=4", "--record", log) as program:
            page = Page(program.addresses["web"])
            self.assertEqual([robot["name"] for robot in page.model["robots"]], ["red", "blue"])
            phantom = add(page, kept.name)
            page.send(type="control", action="reset", robot=-1)
            page.command(**{"red/left_track.torque": 8, "red/right_track.torque": 8})
            show(page, lambda time, _: time < 0.5)
            time, bodies, ((_, seconds, metres, where),) = show(page, lambda time, _: time > 2)
            red, blue = (bodies[robot["root"]] for robot in page.model["robots"])
            gone = math.dist(where[0][:2], blue[:2])
            self.assertGreater(gone, 0.05)
            self.assertAlmostEqual(metres, gone, places=4)
            self.assertTrue(0 < seconds <= time + 0.05, (seconds, time))  # it was here, and left
            self.assertGreater(abs(metres - math.dist(where[0][:2], red[:2])), 0.1)  # not the first robot's
            self.assertEqual(phantom["name"], "blue")
            page.close()
            self.assertEqual(program.stop(), 0, program.text())
        self.assert_identical(log)

    def test_one_that_stays_in_its_place_is_compared_by_what_moves(self):
        """An arm turns about its own origin; no origin of its bodies ever moves."""
        (FOLDER / "arm.xml").write_text(
            '<mujoco><worldbody><body name="post"><geom type="box" size=".1 .1 .5"/><body name="arm" pos="0 0 1">'
            '<joint name="turn"/><geom type="capsule" fromto="0 0 0 1 0 0" size=".05"/></body></body></worldbody></mujoco>')
        arm, run = scene("arm", "robots:\n  - robot: arm.xml\n"), RUNS / "turned.wpilog"
        RUNS.mkdir(parents=True, exist_ok=True)
        with live(arm, "--set", "speed=4", "--record", run) as program:
            page = Page(program.addresses["web"])
            _, still, _ = show(page, lambda time, _: time > 4)
            page.command(**{"turn.velocity": 1})
            left, _, _ = poses(page.until(lambda message: isinstance(message, bytes) and message[0] == 1
                                          and math.dist(sum(poses(message)[1], ()), sum(still, ())) > 0.01))
            show(page, lambda time, _: time > left + 4)
            page.close()
            self.assertEqual(program.stop(), 0, program.text())
        with live(arm, "--set", "speed=4", "--set", "record.on=off") as program:
            page = Page(program.addresses["web"])
            add(page, run.name)
            page.send(type="control", action="reset", robot=-1)
            _, _, ((_, seconds, metres, _),) = show(page, lambda time, racing: 0.5 < time < 3.9 and racing)
            self.assertEqual((seconds, round(metres, 6)), (0, 0))  # both wait
            time, _, ((_, seconds, metres, _),) = show(page, lambda time, racing: time > left + 1 and racing)
            self.assertGreater(metres, 0.2)
            self.assertTrue(time - left - 0.5 < seconds < time - 3.9, (time, left, seconds))  # one has waited since the other left
            page.close()
            self.assertEqual(program.stop(), 0, program.text())


if __name__ == "__main__":
    unittest.main()
