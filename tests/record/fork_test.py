#!/usr/bin/env python3
"""A new run from any moment of a kept one: on the command line and from the pages."""
import http.client
import json
import pathlib
import socket
import subprocess
import time
import unittest

from support.live_page import Page, poses
from support.process import PATIENCE, STATE, TETHER, Tether, wait_for


FOLDER = pathlib.Path(STATE.name)
RUNS = FOLDER / "tether" / "runs"
WIRE = ("--set", "wires.float-udp.bind=127.0.0.1:0")


def tether(*arguments, code=0):
    done = subprocess.run([TETHER, *map(str, arguments)], capture_output=True, text=True, timeout=6 * PATIENCE, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def run(*arguments):
    return tether("run", *arguments, "--pace", "fast", "--no-web")


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.log = FOLDER / "whole.wpilog"
        run("frc2011", *WIRE, "--duration", "1.5", "--record", cls.log, "--save-state", FOLDER / "whole")

    def test_it_goes_on_as_the_run_did(self):
        fork = FOLDER / "fork.wpilog"
        run("--from", f"{self.log}@0.705", "--duration", "1.5", "--record", fork, "--save-state", FOLDER / "forked")
        self.assertEqual((FOLDER / "forked").read_bytes(), (FOLDER / "whole").read_bytes())
        self.assertIn("identical: 2400 steps", tether("verify", fork))  # 0.8 s: from the tick that ended at 0.7

    def test_it_is_compared_with_the_run_that_went_on(self):
        """The same states are written with what each log rounds away; what people ask for holds all the same."""
        fork = FOLDER / "compared.wpilog"
        run("--from", f"{self.log}@0.7", "--duration", "1.5", "--record", fork)
        self.assertIn("within tolerances", tether("compare", self.log, fork))
        self.assertIn("leave their tolerance", tether("compare", self.log, fork, "--tolerance", "0", code=1))

    def test_a_fork_is_forked_again(self):
        first, second = FOLDER / "first.wpilog", FOLDER / "second.wpilog"
        run("--from", f"{self.log}@0.4", "--duration", "1", "--record", first)
        run("--from", f"{first}@0.7 s", "--duration", "1.5", "--record", second, "--save-state", FOLDER / "twice")
        self.assertEqual((FOLDER / "twice").read_bytes(), (FOLDER / "whole").read_bytes())
        self.assertIn("identical: 2400 steps", tether("verify", second))

    def test_other_settings_hold_from_there_on(self):
        other = FOLDER / "other.wpilog"
        run("--from", f"{self.log}@0.5", "--duration", "1", "--record", other, "--set", "seed=77")
        self.assertIn("identical: 1500 steps", tether("verify", other))
        self.assertIn("from: {time: 0.500 s, run: \"whole.wpilog\"}", tether("export", other, "--format", "summary"))
        self.assertIn(r'\"seed\":77', tether("export", other, "--format", "jsonl").split("\n", 1)[0])

    def test_a_moment_is_saved(self):
        said = tether("verify", self.log, "--until", "0.5", "--save-state", FOLDER / "half", "--json")
        self.assertEqual(json.loads(said.splitlines()[-1])["verdict"], "identical")
        run("frc2011", *WIRE, "--from-state", FOLDER / "half", "--duration", "1.5", "--save-state", FOLDER / "there")
        self.assertEqual((FOLDER / "there").read_bytes(), (FOLDER / "whole").read_bytes())

    def test_what_makes_no_sense_is_refused(self):
        run("--from", f"{self.log}@0.4", "--duration", "0.5", "--record", FOLDER / "late.wpilog")
        for words, code, said in (((f"{self.log}",), 2, "LOG@SECONDS"), ((f"{self.log}@x",), 2, "LOG@SECONDS"),
                                  ((f"{self.log}@9",), 1, "has 0 to 1.500 s"), ((f"{FOLDER}/none@1",), 1, "none"),
                                  ((f"{FOLDER}/late.wpilog@0.2",), 1, "begins at 0.400 s"), ((f"{self.log}@1", "frc2011"), 2, "brings its scene"),
                                  ((f"{self.log}@1", "--set", "nonsense=1"), 1, "nonsense"),
                                  ((f"{self.log}@1", "--from-state", "x"), 2, "--from-state")):
            self.assertIn(said, tether("run", "--no-web", "--from", *words, code=code))
        self.assertIn("go together", tether("verify", self.log, "--until", "1", code=2))


    def test_a_duration_that_is_over_is_refused(self):
        """The run would make no step."""
        scene, log, never = FOLDER / "short.yaml", FOLDER / "short.wpilog", FOLDER / "never.wpilog"
        scene.write_text("robots: [{robot: gripper}]\nduration: 0.2 s\n")
        run(scene, "--record", log)
        end, remedy = FOLDER / "whole", "give a --duration above 1.500, as simulated time counts on"
        for words, said in ((("--from", f"{self.log}@1.5", "--duration", "1"), f"whole.wpilog: goes on at 1.500 s, when a duration of 1 s is over; {remedy}"),
                            (("--from", f"{self.log}@1.5", "--duration", "1.5"), f"whole.wpilog: goes on at 1.500 s, when a duration of 1.5 s is over; {remedy}"),
                            (("frc2011", *WIRE, "--from-state", end, "--duration", "1"), f"{end}: goes on at 1.500 s, when a duration of 1 s is over; {remedy}"),
                            (("--from", f"{log}@0.2"), "short.wpilog: goes on at 0.200 s, when a duration of 0.2 s is over")):
            self.assertIn(said, tether("run", *words, "--pace", "fast", "--no-web", "--record", never, code=2))
            self.assertFalse(never.exists())
        self.assertIn("0.300 s simulated", run("--from", f"{log}@0.2", "--duration", "0.3"))

    def test_a_state_takes_the_place_of_nothing_else(self):
        """And who mistyped its name is told before the run."""
        scene, log = FOLDER / "mine.yaml", FOLDER / "kept.wpilog"
        scene.write_text("robots: [{robot: gripper}]\n")
        log.write_bytes(self.log.read_bytes())
        before = set(FOLDER.iterdir())
        for path, code, said in ((scene, 1, "no saved state"), (log, 1, "no saved state"), (FOLDER, 1, "is a folder"), (FOLDER / "none" / "x", 3, "folder must exist")):
            self.assertIn(said, tether("run", scene, "--no-web", "--pace", "fast", "--duration", "1e6", "--save-state", path, code=code))
            self.assertIn(said, tether("verify", log, "--until", "0.1", "--save-state", path, code=code))
        self.assertEqual((scene.read_text(), log.read_bytes()), ("robots: [{robot: gripper}]\n", self.log.read_bytes()))
        self.assertEqual(set(FOLDER.iterdir()), before)


class Pages(unittest.TestCase):
    """A running program goes on with a fork, at the same address."""

    def setUp(self):
        # A program each: a fork makes anew what was before it, and what has run for long takes long.
        self.program = self.enterContext(Tether("run", "frc2011", *WIRE, "--set", "web.listen=127.0.0.1:0"))
        self.address = self.program.addresses["web"]

    def ask(self, method, path, body=None):
        host = self.address.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=20)
        connection.request(method, path, body and json.dumps(body), {"Origin": self.address, "Content-Type": "application/json"})
        answer = connection.getresponse()
        found = json.loads(answer.read())
        connection.close()
        return answer.status, found

    def begun(self, page):
        """The run that is recorded, once its file has some of it: one that began just now has no journal yet."""
        run = page.hello["recording"]
        wait_for(lambda: self.ask("GET", f"/api/runs/{run}/values?at=1e6")[1].get("time", 0) > 0.05, "the run")
        return run

    def fork(self, run, time_there, **more):
        status, answer = self.ask("POST", f"/api/runs/{run}/fork", {"time": time_there, **more})
        self.assertEqual(status, 202, answer)
        states = []

        def end():
            try:
                _, told = self.ask("GET", f"/api/forks/{answer['fork']}")
            except (OSError, http.client.HTTPException):
                return None  # between two worlds nobody answers
            states.append(told["state"])
            return told if told["state"] in ("done", "failed") else None

        # What runs the inputs again is less urgent than anything.
        return wait_for(end, "the fork", 6 * PATIENCE, 0.02), states

    def drive(self):
        """Some driving: the run, and the end of a tick in which its robot drove."""
        page = Page(self.address)
        page.command(**{"left_track.torque": 8, "right_track.torque": 6})
        run = page.hello["recording"]
        wait_for(lambda: len(self.ask("GET", f"/api/runs/{run}/messages")[1]) == 2, "the command in the log")
        began = self.ask("GET", f"/api/runs/{run}/messages")[1][-1]["time"]
        wait_for(lambda: self.ask("GET", f"/api/runs/{run}/values?at=1e6")[1]["time"] > began + 0.3, "some driving")
        page.close()
        return run, round(began + 0.2, 2)

    def test_before_a_fork_everything_is_where_it_begins(self):
        """Its log has nothing of that time."""
        whole = FOLDER / "before.wpilog"
        run("frc2011", *WIRE, "--duration", "0.6", "--record", whole)
        run("--from", f"{whole}@0.5", "--duration", "0.6", "--record", RUNS / "after.wpilog")
        connection = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=20)
        frames = []
        for at in 0.1, 0.5:
            connection.request("GET", f"/api/runs/after.wpilog/frames?at={at}")
            frames.append(poses(connection.getresponse().read()[4:])[1])
        connection.close()
        self.assertEqual(*frames)
        self.assertGreater(len(set(frames[0])), 10)

    def test_fork_here(self):
        old, moment = self.drive()
        told, states = self.fork(old, moment + 0.004)
        self.assertEqual(told, {"state": "done", "done": 1, "error": None})
        self.assertIn("running", states)
        page = Page(self.address)
        new = page.hello["recording"]
        page.close()
        self.assertNotEqual(new, old)
        wait_for(lambda: self.ask("GET", f"/api/runs/{new}/values?at=1e6")[1]["time"] > moment + 0.05, "the new run")
        # A tick later: what was commanded holds.
        then = self.ask("GET", f"/api/runs/{old}/values?at={moment + 0.0105:.4f}")[1]["values"]
        now = self.ask("GET", f"/api/runs/{new}/values?at={moment + 0.0105:.4f}")[1]["values"]
        self.assertEqual(set(now), set(then))
        self.assertTrue(any(name.endswith(".velocity") and abs(value) > 0.05 for name, value in now.items()), "nothing moves")
        self.assertEqual([name for name, value in then.items() if abs(value - now[name]) > 1e-6 * max(1, abs(value))], [])
        self.assertIn("identical", tether("verify", RUNS / old))
        more = {"seed": 5, "description": "another", "duration": 1e4, "record.keep": 1000, "record.megabytes": 500, "record.period": 0.02}
        told, _ = self.fork(new, moment + 0.03, settings=more)  # a fork of it ends it, so that it is whole
        self.assertEqual(told["state"], "done", told)
        self.assertIn("identical", tether("verify", RUNS / new))

    def test_what_makes_no_sense_is_refused(self):
        page = Page(self.address)
        run = page.hello["recording"]
        page.close()
        for body, code in (({}, 400), ({"time": "1"}, 400), ({"time": -1}, 400), ({"time": 1e6}, 400), ({"time": 0, "settings": [1]}, 400),
                           ({"time": 0, "settings": {"a": {}}}, 400), ({"time": 0, "settings": {"a=b": 1}}, 400)):
            self.assertEqual(self.ask("POST", f"/api/runs/{run}/fork", body)[0], code, body)
        self.assertEqual(self.ask("POST", "/api/runs/none.wpilog/fork", {"time": 0})[0], 404)
        self.assertEqual(self.ask("GET", "/api/forks/77")[0], 404)
        self.assertEqual(self.ask("GET", "/api/forks/x")[0], 404)

    def test_a_fork_that_fails_leaves_the_run_alone(self):
        page = Page(self.address)
        told, _ = self.fork(self.begun(page), 0, settings={"nonsense": 1})
        self.assertEqual(told["state"], "failed")
        self.assertIn("nonsense", told["error"])
        page.told("status")  # it still runs
        page.close()

    def test_a_fork_that_cannot_be_opened_is_said_by_the_world_that_begins_anew(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", 0))
            page = Page(self.address)
            self.assertIsNone(page.hello["refused"])
            before = page.hello["token"]
            self.fork(self.begun(page), 0, settings={"wires.float-udp.bind": f"127.0.0.1:{taken.getsockname()[1]}"})
            page.close()

            def anew():
                try:
                    now = Page(self.address)
                except (OSError, EOFError):
                    return None  # between two worlds nobody answers
                now.close()
                return now.hello if now.hello["token"] != before else None

            refused = wait_for(anew, "the world that begins anew", PATIENCE)["refused"]
            self.assertEqual(refused["scene"], "frc2011")
            self.assertIn("in use", refused["reason"])


if __name__ == "__main__":
    unittest.main()
