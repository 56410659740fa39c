#!/usr/bin/env python3
"""The .deb: built with cpack from this build, listed, unpacked, and run from there as a program that knows no source tree."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import unittest
import urllib.request

BUILD = pathlib.Path(os.environ["TETHER"]).parent
ROOT = pathlib.Path(os.environ["TETHER_SOURCE_DIR"])
TIMEOUT = 60  # s for anything: a loaded machine may be slow
PACKING = 240  # s for cpack, which needs 5 s of a processor


def run(*command, timeout=TIMEOUT, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, **options)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        top = pathlib.Path(cls.folder.name)
        made = run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", top, timeout=PACKING)
        assert made.returncode == 0, made.stdout + made.stderr
        cls.deb = next(top.glob("tether_*_*.deb"))
        cls.unpacked = top / "unpacked"
        run("dpkg-deb", "-x", cls.deb, cls.unpacked)
        cls.tether = cls.unpacked / "usr/bin/tether"
        cls.state = top / "state"

    def tether_from_elsewhere(self, *arguments):
        environment = {"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(self.state)}
        return run(self.tether, *arguments, cwd="/", env=environment)

    def test_says_what_it_needs(self):
        control = run("dpkg-deb", "-f", self.deb).stdout
        self.assertRegex(control, r"Package: tether\n")
        depends = re.search(r"^Depends: (.*)$", control, re.MULTILINE)[1]
        for library in ("libc6 (>= ", "libmujoco", "libsoup-3.0-0", "libuv1", "libpq5", "libsqlite3-0"):
            self.assertIn(library, depends)
        self.assertNotIn("-dev", depends)

    def test_installs_what_belongs_where(self):
        for path in ("bin/tether", "lib/tether/tether-halsim.so", "lib/tether/tether-telemetry.so", "libexec/tether/compile-model", "libexec/tether/run-program", "share/man/man1/tether.1", "share/man/man3/libtether.3", "lib/systemd/user/tether@.service",
                     "lib/systemd/system/tether-collect.service", "lib/systemd/system/tether-store@.service",
                     "share/bash-completion/completions/tether", "share/tether/grafana/telemetry-http.json", "share/tether/grafana/datasource-http.yaml",
                     "share/doc/tether/LICENSE", "share/doc/tether/README.md",
                     "share/doc/tether/docs/scene.md", "share/doc/tether/clients/python/float_udp.py",
                     "share/tether/arenas/frc2011/arena.yaml", "share/tether/robots/frc2011/robot.xml"):
            self.assertTrue((self.unpacked / "usr" / path).is_file(), path)
        scenes = {path.name for path in (ROOT / "scenes").iterdir()}
        self.assertEqual({path.name for path in (self.unpacked / "usr/share/tether/scenes").iterdir()}, scenes)

    def test_the_python_package(self):
        """It needs the library's package, and finds the library and its scenes where that one puts them."""
        deb, = pathlib.Path(self.folder.name).glob("python3-tether_*_all.deb")
        self.assertRegex(run("dpkg-deb", "-f", deb).stdout, r"Depends: python3, python3-numpy, python3-yaml, tether \(= [\d.]+\)\n")
        run("dpkg-deb", "-x", deb, self.unpacked)
        library, = (self.unpacked / "usr/lib").rglob("libtether.so.0")
        answer = run("/usr/bin/python3", "-c", "import tether; sim = tether.Scene('gripper').sim(); sim.step(6); print(sim.time)", cwd="/",
                     env={"PATH": os.environ["PATH"], "PYTHONPATH": str(self.unpacked / "usr/lib/python3/dist-packages"),
                          "LD_LIBRARY_PATH": str(library.parent)})
        self.assertEqual((answer.stderr, answer.stdout), ("", "0.01\n"))

    def test_sqlite3_loads_the_extension(self):
        """The module's name, which is SQLite's error where it is not loaded, says where the package has it."""
        installed = "/usr/lib/tether/tether-telemetry.so"
        answer = run("sqlite3", ":memory:", f".load {self.unpacked}{installed}",
                     "SELECT name FROM pragma_module_list WHERE name LIKE 'tether-telemetry%'", env={"PATH": os.environ["PATH"]})
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertTrue(answer.stdout.endswith(f".load {installed}\n"), answer.stdout)
        self.assertIn("libzstd1", re.search(r"^Depends: (.*)$", run("dpkg-deb", "-f", self.deb).stdout, re.MULTILINE)[1])

    def test_runs_from_another_folder(self):
        answer = self.tether_from_elsewhere("run", "frc2011", "--pace", "fast", "--duration", "0.2", "--set",
                                            "wires.float-udp.bind=127.0.0.1:0", "--set", "web.listen=127.0.0.1:0")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertRegex(answer.stderr, r"(?m)^ready float-udp=127\.0\.0\.1:\d+ web=http://127\.0\.0\.1:\d+$")
        runs = list((self.state / "tether/runs").glob("*.wpilog"))
        self.assertEqual(len(runs), 1)
        self.assertEqual(self.tether_from_elsewhere("verify", runs[0]).returncode, 0)

    def test_a_running_program_outlives_an_upgrade(self):
        """Its file is another one then; it finds what belongs to it where it was."""
        environment = {"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(self.state)}
        with subprocess.Popen([self.tether, "run", "frc2011", "--set", "record.on=false", "--set", "wires.float-udp.bind=127.0.0.1:0", "--set", "web.listen=127.0.0.1:0"],
                              cwd="/", env=environment, stderr=subprocess.PIPE, text=True) as program:
            patience = threading.Timer(TIMEOUT, program.kill)
            patience.start()
            self.addCleanup(patience.cancel)

            def web():
                said = []
                for line in program.stderr:
                    said.append(line)
                    if ready := re.match(r"ready .*web=(\S+)", line):
                        return ready[1]
                return self.fail("".join(said))
            at = web()
            new = self.tether.with_name("new")
            shutil.copy(self.tether, new)
            new.rename(self.tether)
            request = urllib.request.Request(f"{at}/api/scenes", data=b'{"name": "concept-symmetric"}', headers={"Origin": at})
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                self.assertEqual(answer.status, 202)
            self.assertEqual(web(), at)
            program.terminate()
            self.assertEqual(program.wait(TIMEOUT), 0)

    def test_finds_nothing_in_the_source_tree(self):
        scene = self.unpacked / "usr/share/tether/scenes/sharp.yaml"
        self.assertEqual(self.tether_from_elsewhere("check", "sharp").returncode, 0)
        scene.rename(scene.with_name("moved.yaml"))
        try:
            self.assertEqual(self.tether_from_elsewhere("check", "sharp").returncode, 1)
        finally:
            scene.with_name("moved.yaml").rename(scene)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_the_user_unit_is_one(self):
        unit = (self.unpacked / "usr/lib/systemd/user/tether@.service").read_text(encoding="utf-8")
        here = pathlib.Path(self.folder.name) / "tether@frc2011.service"
        here.write_text(unit.replace("ExecStart=tether", f"ExecStart={self.tether}"), encoding="utf-8")
        answer = run("systemd-analyze", "verify", "--user", "--man=no", here,
                     env={**os.environ, "XDG_RUNTIME_DIR": self.folder.name})
        self.assertEqual((answer.returncode, answer.stdout + answer.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_the_units_of_collector_and_writer(self):
        """They are units, of a program that is there, and leave it little that it could do to the machine."""
        for name, here in ("tether-collect.service",) * 2, ("tether-store@.service", "tether-store@one.service"):
            unit = (self.unpacked / "usr/lib/systemd/system" / name).read_text(encoding="utf-8")
            place = pathlib.Path(self.folder.name) / here
            place.write_text(unit.replace("ExecStart=/usr/bin/tether", f"ExecStart={self.tether}"), encoding="utf-8")
            answer = run("systemd-analyze", "verify", "--man=no", place)
            self.assertEqual((answer.returncode, answer.stdout + answer.stderr), (0, ""))
            words = re.search(r"^ExecStart=\S+ (\w+)", place.read_text(encoding="utf-8"), re.MULTILINE)[1]
            self.assertEqual(run(self.tether, words, "--help").returncode, 0)
            answer = run("systemd-analyze", "security", "--offline=yes", place)
            exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", answer.stdout)
            self.assertLess(float(exposure[1]), 2, answer.stdout)

    def complete(self, *words):
        script = f'. "$1"; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _tether; echo "${{COMPREPLY[@]}}"'
        completion = self.unpacked / "usr/share/bash-completion/completions/tether"
        path = f"{self.tether.parent}:{os.environ['PATH']}"
        return run("bash", "-c", script, "bash", completion, cwd=self.folder.name,
                   env={"PATH": path, "XDG_STATE_HOME": self.folder.name}).stdout.split()

    def test_bash_completes_kept_runs(self):
        for name in "2001-a", "2001-b":
            kept = pathlib.Path(self.folder.name) / "tether/runs"
            kept.mkdir(parents=True, exist_ok=True)
            (kept / f"{name}.wpilog").write_bytes(b"")
        (kept.parents[1] / "2001-c.wpilog").write_bytes(b"")
        self.assertEqual(self.complete("tether", "runs", "unp"), ["unpin"])
        self.assertEqual(self.complete("tether", "runs", "show", "2001"), ["2001-b", "2001-a"])
        for command in "verify", "replay", "export", "compare":
            self.assertEqual(self.complete("tether", command, "2001"), ["2001-b", "2001-a", "2001-c.wpilog"])
        self.assertEqual(self.complete("tether", "compare", "2001-c.wpilog", "2001-b"), ["2001-b"])
        self.assertEqual(self.complete("tether", "run", "--from", "2001"), ["2001-b", "2001-a", "2001-c.wpilog"])

    def test_bash_completes_commands_options_and_scenes(self):
        self.assertEqual(self.complete("tether", "ver"), ["verify"])
        self.assertIn("frc2011-motors", self.complete("tether", "run", "frc"))
        self.assertEqual(self.complete("tether", "run", "frc2011", "--dur"), ["--duration"])
        self.assertEqual(self.complete("tether", "run", "frc2011", "--pace", "lo"), ["lockstep"])


if __name__ == "__main__":
    unittest.main()
