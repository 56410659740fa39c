#!/usr/bin/env python3
"""`tether runs` and `tether compare`: the kept runs in a terminal, as pages have them."""
import json
import pathlib
import subprocess
import unittest
import urllib.request

from support.process import ROOT, STATE, TETHER, Tether

FOLDER = pathlib.Path(STATE.name)
RUNS = FOLDER / "tether" / "runs"
SCENE = ROOT / "tests" / "scenes" / "good" / "one.yaml"


def tether(*arguments):
    """(status, standard output, standard error)"""
    done = subprocess.run([TETHER, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def record(where, *settings, scene=SCENE, duration=0.2):
    """A run in the file `where`.wpilog."""
    values = [word for setting in settings for word in ("--set", setting)]
    path = where.with_name(where.name + ".wpilog")
    status, _, said = tether("run", scene, "--pace", "fast", "--duration", duration, "--no-web", "--record", path, *values)
    assert status == 0, said
    return path


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        RUNS.mkdir(parents=True, exist_ok=True)
        for file in RUNS.iterdir():  # markers of others
            file.unlink()
        cls.first = record(RUNS / "2026-01-01T10-00-00-one")
        cls.second = record(RUNS / "2026-01-02T10-00-00-one", duration=0.4)

    def setUp(self):
        self.assertEqual(tether("runs", "unpin", self.first.stem)[0], 0)

    def test_lists_what_the_pages_list(self):
        status, said, _ = tether("runs")
        self.assertEqual(status, 0)
        newest, oldest = said.splitlines()
        self.assertRegex(newest, r"^2026-01-02T10-00-00-one +0\.40 s +0\.\d MB  ended$")
        self.assertRegex(oldest, r"^2026-01-01T10-00-00-one +0\.20 s +0\.\d MB  ended$")
        self.assertEqual(tether("runs", "list", "--names")[1], f"{self.second.stem}\n{self.first.stem}\n")
        with Tether("run", SCENE, "--set", "web.listen=127.0.0.1:0", "--set", "record.on=off") as program:
            with urllib.request.urlopen(program.addresses["web"] + "/api/runs") as answer:
                listed = json.load(answer)
            with urllib.request.urlopen(program.addresses["web"] + "/api/runs/" + self.first.name) as answer:
                shown = json.load(answer)
        self.assertEqual([json.loads(line) for line in tether("runs", "--json")[1].splitlines()], listed)
        self.assertEqual(json.loads(tether("runs", "show", self.first.stem, "--json")[1]), shown)

    def test_shows_what_happened(self):
        status, said, _ = tether("runs", "show", self.first.stem)
        self.assertEqual(status, 0)
        self.assertEqual(said.splitlines()[:3], [f"file: {self.first}", "pinned: false", 'scene: "one"'])
        self.assertIn("duration: 0.200 s", said)
        self.assertEqual(tether("runs", "show", self.first.name)[1], said)

    def test_is_named_as_in_the_pages(self):
        def about():
            found = {run["id"]: run for run in map(json.loads, tether("runs", "--json")[1].splitlines())}[self.first.name]
            return [found[key] for key in ("name", "tags", "note")]
        self.assertEqual(tether("runs", "set", self.first.stem, "--name", "At rest", "--tag", "base", "--tag", "slow", "--note", "Nothing moved."), (0, "", ""))
        self.assertEqual(about(), ["At rest", ["base", "slow"], "Nothing moved."])
        self.assertEqual(tether("runs", "set", self.first.stem, "--tag", "one")[0], 0)
        self.assertEqual(about(), ["At rest", ["one"], "Nothing moved."])
        self.assertEqual(tether("runs", "set", self.first.stem, "--name", "", "--tag", "", "--note", "")[0], 0)
        self.assertEqual(about(), ["", [], ""])
        for words, status, why in ((("set", self.first.stem), 2, "give --name"), (("--name", "x"), 2, "of runs set"), (("set", "--name", "x"), 2, "name of a RUN"),
                                   (("set", self.first.stem, "--name", "a\nb"), 1, "a line of at most"), (("set", "nosuch", "--name", "x"), 1, "there is no such run"),
                                   (("set", self.first.stem, "--tag", "a", "--tag", "a"), 1, "each once")):
            code, _, said = tether("runs", *words)
            self.assertEqual(code, status, said)
            self.assertIn(why, said)

    def test_a_pinned_one_makes_no_room(self):
        folder = FOLDER / "few"
        settings = ("--set", f"record.folder={folder}", "--set", "record.keep=1")
        names = []
        for number in range(3):
            self.assertEqual(tether("run", SCENE, "--pace", "fast", "--duration", "0.1", "--no-web", *settings)[0], 0)
            names.append(tether("runs", "--folder", folder, "--names")[1].split()[0])
            if number == 0:
                self.assertEqual(tether("runs", "pin", "--folder", folder, names[0])[0], 0)
        said = tether("runs", "--folder", folder)[1]
        self.assertEqual([line.split()[0] for line in said.splitlines()], [names[2], names[0]])
        self.assertEqual([line.endswith("pinned") for line in said.splitlines()], [False, True])

    def test_those_that_begin_at_once_have_each_a_name(self):
        """With the folder's own names, then with files elsewhere, of which the folder has markers."""
        folder = FOLDER / "at_once"
        folder.mkdir()
        command = (TETHER, "run", SCENE, "--pace", "fast", "--duration", "0.05", "--no-web", "--set", f"record.folder={folder}")
        begun = [subprocess.Popen([*command, *(("--record", FOLDER / f"at_once_{number}.wpilog") if number < 3 else ())], stderr=subprocess.PIPE, text=True)
                 for number in range(9)]
        said = [program.communicate(timeout=60)[1] for program in begun]
        self.assertEqual([program.returncode for program in begun], [0] * 9, said)
        self.assertEqual(len(tether("runs", "--folder", folder, "--names")[1].split()), 9)
        for log in folder.glob("*.wpilog"):
            self.assertEqual(tether("verify", log)[0], 0)

    def test_removes_but_not_a_pinned_or_growing_one(self):
        made = record(RUNS / "2026-01-03T10-00-00-one", duration=0.1)
        self.assertEqual(tether("runs", "pin", made.stem)[0], 0)
        self.assertEqual(tether("runs", "remove", made.stem)[::2],
                         (1, f"tether: {made.name}: is pinned; unpin it first\n"))
        self.assertEqual(tether("runs", "unpin", made.stem)[0], 0)
        self.assertEqual(tether("runs", "remove", made.stem), (0, "", ""))
        self.assertFalse(made.exists())
        with Tether("run", SCENE, "--no-web"):
            growing = tether("runs", "--names")[1].split()[0]
            self.assertIn("recording", tether("runs")[1].splitlines()[0])
            self.assertEqual(tether("runs", "remove", growing)[::2],
                             (1, f"tether: {growing}.wpilog: is still being recorded; end that run first\n"))
        self.assertEqual(tether("runs", "remove", growing)[0], 0)

    def test_one_recorded_elsewhere_goes_from_the_list_only(self):
        file = FOLDER / "mine.wpilog"
        self.assertEqual(tether("run", SCENE, "--pace", "fast", "--duration", "0.1", "--no-web", "--record", file)[0], 0)
        line = next(line for line in tether("runs")[1].splitlines() if line.endswith(f"in {file}"))
        self.assertEqual(tether("runs", "remove", line.split()[0]),
                         (0, f"no longer in the list; its file stays: {file}\n", ""))
        self.assertNotIn(str(file), tether("runs")[1])
        self.assertEqual(tether("verify", file)[0], 0)

    def test_names_of_runs_stand_for_their_files(self):
        for command in ("verify", "export"):
            self.assertEqual(tether(command, self.first.stem)[0], 0)
            status, _, said = tether(command, "2026-01-01T10-00-00-two")
            self.assertEqual(status, 1)
            self.assertIn("there is no such file, and no kept run of that name; tether runs lists", said)
        with Tether("replay", self.first.stem, "--set", "web.listen=127.0.0.1:0") as program:
            self.assertEqual(program.stop(), 0)

    def test_what_is_wrong_is_said(self):
        for words, status, says in ((("show", "2026-01-01T10-00-00-onr"), 1, "did you mean '2026-01-01T10-00-00-one.wpilog'?"),
                                    (("show",), 2, "takes the name of a RUN"), (("drop", "x"), 2, "give list, show, set, pin"),
                                    (("pin", "../../etc/passwd"), 1, "no such run"), (("list", "x"), 2, "takes no RUN"),
                                    (("--jsn",), 2, "did you mean '--json'?"),
                                    (("--folder", FOLDER / "nowhere"), 1, "nowhere: No such file or directory"), (("--folder", self.first), 1, "this is no folder")):
            answered, _, said = tether("runs", *words)
            self.assertEqual(answered, status, words)
            self.assertIn(says, said)

    def test_a_damaged_one_is_said(self):
        damaged = RUNS / "2020-damaged.wpilog"
        damaged.write_bytes(b"this is none")
        self.addCleanup(damaged.unlink)
        status, said, wrong = tether("runs")
        self.assertEqual((status, wrong), (0, f"tether: {damaged}: can't be read\n"))
        self.assertIn(self.first.stem, said)


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.one = record(FOLDER / "one")
        cls.again = record(FOLDER / "again")
        cls.long = record(FOLDER / "long", duration=0.3)
        cls.moved = record(FOLDER / "moved", "robots.red1.x=0.25 m")

    def test_equal_runs(self):
        status, said, wrong = tether("compare", self.one, self.again)
        self.assertEqual((status, wrong), (0, ""))
        self.assertRegex(said, r"^equal: \d+ signals\n$")

    def test_runs_that_were_sampled_at_other_times(self):
        """What a log rounds away is no difference."""
        often, seldom = record(FOLDER / "often", duration=0.6), record(FOLDER / "seldom", "record.period=0.03", duration=0.6)
        for pair in (often, seldom), (seldom, often):
            status, said, wrong = tether("compare", *pair)
            self.assertEqual((status, wrong), (0, ""), said)

    def test_the_earliest_difference_comes_first(self):
        status, said, wrong = tether("compare", self.one, self.moved)
        self.assertEqual(status, 1)
        self.assertRegex(said, r"(?m)^chassis\.x: beyond 0 from 0\.000 s on, by up to 0\.\d+ at \d\.\d{3} s$")
        self.assertRegex(wrong, r"\d+ of \d+ signals leave their tolerance")
        self.assertRegex(tether("compare", self.one, self.moved, "--tolerance", "100")[1], "^within tolerances: ")
        self.assertEqual(tether("compare", self.one, self.moved, "--tolerance", "100", "--tolerance", "chassis.x=0.01")[0], 1)

    def test_a_longer_run_differs(self):
        status, said, wrong = tether("compare", self.long, self.one)
        self.assertEqual(status, 1)
        self.assertRegex(said, "^equal: ")
        self.assertIn(f"{self.long} goes on for 0.100 s more; compared are the first 0.200 s of both", wrong)

    def test_a_signal_that_only_one_has(self):
        body = '<body name="{0}" pos="0 {1} 1"><joint name="{0}_joint"/><geom size=".1"/></body>'
        logs = []
        for names in ("a", "ab"):
            model = FOLDER / f"{names}.xml"
            bodies = "".join(body.format(name, at) for at, name in enumerate(names))
            model.write_text(f'<mujoco><worldbody><body name="base">{bodies}</body></worldbody></mujoco>')
            logs.append(record(FOLDER / names, scene=model))
        for word, pair in (("added", logs), ("missing", logs[::-1])):
            status, said, _ = tether("compare", *pair)
            self.assertEqual(status, 1)
            self.assertIn(f"b_joint.position: {word}\n", said)
            self.assertNotIn("a_joint", said)

    def test_the_command_line(self):
        self.assertEqual(tether("compare", self.one)[0], 2)
        self.assertEqual(tether("compare", self.one, self.again, "--tolerance", "x")[0], 2)
        self.assertEqual(tether("compare", self.one, self.again, "--tolerance", "chasis.x=1")[::2],
                         (1, "tether: the run keeps no signal 'chasis.x'; did you mean 'chassis.x'?\n"))


if __name__ == "__main__":
    unittest.main()
