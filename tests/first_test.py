#!/usr/bin/env python3
"""Does what docs/first.md says, in order, as tutorial_test does the tutorial, in a project whose `gradlew` starts programs that stand in for
a robot program on WPILib: which, and where it finds Tether, it reads in the lines of build.gradle that the page gives, as Gradle would.

    groovy      is written to the project's build.gradle
    sh, text    as in the tutorial
    console     needs WPILib, and is left out
"""
import os
import pathlib
import re
import sys
import tempfile
import unittest

import tutorial_test
from support.process import ROOT, TETHER

PAGE = ROOT / "docs" / "first.md"
PIECE = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$|(?P<stop>Ctrl-C)", re.MULTILINE | re.DOTALL)
tutorial_test.A_PERSON_TAKES = 0.1  # nothing here goes by when a person was ready
INSTALLED = "/usr/lib/tether/tether-halsim.so"
ROBOT = pathlib.Path(TETHER).parent / "halsim_robot"

GRADLEW = f"""#!{sys.executable}
import os, re, subprocess, sys
text = open("build.gradle").read()
said = dict(re.findall(r'wpi\\.sim\\.envVar\\("(\\w+)", "([^"]+)"\\)', text))
added = re.findall(r"wpi\\.sim\\.add(\\w+)\\(\\)\\.defaultEnabled = true", text)
assert sys.argv[1:] == ["simulateJava"] and len(added) == 1, (sys.argv, added)
if "HALSIM_EXTENSIONS" in os.environ:
    os.execv("{pathlib.Path(TETHER).parent}/halsim/standin/2026/robot", ["robot", "--loops", "500"])
if added == ["XRPClient"]:
    os.execv(sys.executable, [sys.executable, "{ROOT}/clients/python/xrp_line.py", said["HALSIMXRP_HOST"] + ":" + said["HALSIMXRP_PORT"], "1"])
ways = {{"WebsocketsServer": ["--listen", "127.0.0.1:3300"],
        "WebsocketsClient": ["--connect", "ws://" + said.get("HALSIMWS_HOST", "0.0.0.0") + ":3300/wpilibws"]}}
robot = subprocess.Popen(["{ROBOT}", *ways[added[0]], "--metres", "0.5"], stdout=subprocess.PIPE, text=True)
for line in robot.stdout:
    print(line, end="", flush=True)
    if line.startswith("arrived"):
        break
robot.kill()
"""


class First(unittest.TestCase):
    def test_every_block_of_the_page(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            page = tutorial_test.Page(folder)
            gradlew = folder / "gradlew"
            gradlew.write_text(GRADLEW)
            gradlew.chmod(0o755)
            try:
                self.read(page, PAGE.read_text(encoding="utf-8"))
                self.assertIsNone(page.other, "the page leaves Tether running")
            finally:
                if page.other:
                    page.other.kill()

    def read(self, page, text):
        done = []
        for piece in PIECE.finditer(text):
            if piece["stop"]:
                page.stop()
                continue
            kind, block = piece["kind"], piece["text"]
            where = f"first.md:{text.count(chr(10), 0, piece.start()) + 1}"
            if kind == "groovy":
                page.write(block)
            elif kind == "sh":
                page.run(block.replace(INSTALLED, str(pathlib.Path(TETHER).parent / "tether-halsim.so")))
            elif kind == "text":
                self.assertRegex(page.said, tutorial_test.pattern(block), where)
            else:
                self.assertEqual(kind, "console", where)
            done.append(kind)
        self.assertEqual([done.count(kind) for kind in ("groovy", "sh", "text", "console")], [3, 12, 9, 2])

    def test_gradle_lines_are_written_as_a_project_has_them(self):
        """Each block would be read by Gradle: its lines are calls of WPILib's plugin alone."""
        for block in re.findall(r"^```groovy\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            for line in block.splitlines():
                self.assertRegex(line, r'^(// build\.gradle|wpi\.sim\.(envVar\("\w+", "[\w.]+"\)|add(XRPClient|Websockets(Server|Client))\(\)\.defaultEnabled = true))$')


if __name__ == "__main__":
    tutorial_test.enter_own_network()
    unittest.main()
