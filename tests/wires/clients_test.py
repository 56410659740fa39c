#!/usr/bin/env python3
"""The sample clients of the ezphysics and sharp-json wires, in Python, Java and C, against the real program."""
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from support.process import ROOT, Tether

CLIENTS = ROOT / "clients"


class Clients(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compile(self, name):
        """As C11 has it, without a compiler's own extensions."""
        program = self.folder / name
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-o", program,
                        CLIENTS / "c" / f"{name}.c", "-lm"], check=True)
        return program

    def run_client(self, *command):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip().splitlines()[-1]

    def test_all_c_is_strict_c11(self):
        names = [path.stem for path in sorted((CLIENTS / "c").glob("*.c"))]
        self.assertGreaterEqual(len(names), 5)
        for compiler in filter(shutil.which, ("gcc", "clang")):  # other tests build and run what they look at here
            for name in names:
                subprocess.run([compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", ROOT / "include",
                                CLIENTS / "c" / f"{name}.c"], check=True)

    def test_what_stands_in_the_way_is_said_in_a_line(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken, socket.socket() as closed:
            taken.bind(("127.0.0.1", 0))
            closed.bind(("127.0.0.1", 0))  # and nobody listens
            used, nobody = ("%s:%d" % each.getsockname() for each in (taken, closed))
            for name, arguments, said in (("frc2011_driver", ["127.0.0.1:9", used], f"{used}: Address already in use; does another driver run?"),
                                          ("float_udp", ["127.0.0.1:9", used], f"{used}: Address already in use; does another client run?"),
                                          ("sharp_json", ["127.0.0.1:9", used], f"{used}: Address already in use; does another client run?"),
                                          ("lockstep_tcp", [nobody], f"{nobody}: Connection refused; start the simulator first: tether run gripper"),
                                          ("xrp_line", [nobody], f"nobody answers at {nobody}; start the simulator first: tether run xrp"),
                                          ("gripper_grasp", [nobody], "start the simulator first: tether run gripper"),
                                          ("ezphysics", [nobody], "start the simulator first: tether run ezphysics"),
                                          ("creature_crawl", [nobody], "start the simulator first: tether run ezphysics"),
                                          ("telemetry", [nobody], "start the collector first: tether collect")):
                done = subprocess.run([sys.executable, CLIENTS / "python" / f"{name}.py", *arguments], capture_output=True, text=True,
                                      timeout=60, check=False)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), (name, done.stderr))
                self.assertIn(said, done.stderr)

    def ezphysics(self, *command, whole=True):
        tether = Tether("run", "ezphysics", "--no-web", "--set", "wires.ezphysics.listen=127.0.0.1:0")
        self.addCleanup(tether.__exit__)
        address = tether.addresses["ezphysics"]
        last = self.run_client(*command, address if whole else address.rsplit(":", 1)[1], 101)
        self.assertEqual(last, "done: step 500")  # 100 answers of 5 steps each before the last state
        self.assertNotIn("dropped", tether.text())

    def sharp(self, *command, whole=True):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            ours = probe.getsockname()[1]
        tether = Tether("run", "sharp", "--no-web", "--set", "wires.sharp-json.bind=127.0.0.1:0",
                        "--set", f"wires.sharp-json.peer=127.0.0.1:{ours}")
        self.addCleanup(tether.__exit__)
        vehicle = tether.addresses["sharp-json"]
        if whole:
            last = self.run_client(*command, vehicle, f"127.0.0.1:{ours}", 250)
        else:
            last = self.run_client(*command, vehicle.rsplit(":", 1)[1], ours, 250)
        self.assertAlmostEqual(int(last.removeprefix("done: lift ")), 512, delta=20)
        self.assertNotIn("dropped", tether.text())

    def test_python(self):
        self.ezphysics(sys.executable, CLIENTS / "python" / "ezphysics.py")
        self.sharp(sys.executable, CLIENTS / "python" / "sharp_json.py")

    def test_c(self):
        self.ezphysics(self.compile("ezphysics"), whole=False)
        self.sharp(self.compile("sharp_json"), whole=False)

    @unittest.skipUnless(shutil.which("javac"), "no JDK here")
    def test_java(self):
        subprocess.run(["javac", "-Xlint:all", "-Werror", "-d", self.folder, CLIENTS / "java" / "Ezphysics.java",
                        CLIENTS / "java" / "SharpJson.java"], check=True)
        self.ezphysics("java", "-cp", self.folder, "Ezphysics")
        self.sharp("java", "-cp", self.folder, "SharpJson")


if __name__ == "__main__":
    unittest.main()
