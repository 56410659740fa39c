#!/usr/bin/env python3
"""Does what docs/tutorial says: every block of its pages, in order, in one folder, with the program that TETHER names.

    xml, yaml, python   is written to the file that its first line names in a comment
    sh                  is run; a block that is one `tether run` or `tether replay` goes on, once it is ready, until the page
                        says Ctrl-C or that it ends by itself
    text                is what the block before it says: these lines in this order, with … for anything

and what is to be pressed in the pages is, over their wire. As people do, it takes its time: whatever drives a world is started when
that has run for three seconds.

All of it in a network of its own, where that is allowed, since pages name ports.
"""
import fcntl
import json
import math
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

from support import live_page
from support.process import ROOT, TETHER, stretched, wait_for

PAGES = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
PIECE = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$|(?P<stop>Ctrl-C)|(?P<end>ends by itself)"
                   r"|\*(?P<press>Race this one|Reset the world)\*", re.MULTILINE | re.DOTALL)
A_PERSON_TAKES = 3  # s simulated until a program is typed and started
GOES_ON = re.compile(r"tether (run|replay) [^\n]*\n")
# What is allowed differs: a user's own root, or, where that can't be had (in a chroot), the real one.
ENTER = ["unshare", "--map-root-user", "--net"], ["unshare", "--net"]


def enter_own_network():
    """Starts anew in a network where all ports are free, if the machine lets us."""
    if "TUTORIAL_ALONE" in os.environ:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:  # brings lo up, as `ip link set lo up` does
            fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 1))
        return
    for enter in ENTER:
        if subprocess.run([*enter, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            os.environ["TUTORIAL_ALONE"] = "yes"
            os.execvp(enter[0], [*enter, sys.executable, *sys.argv])


class Race(threading.Thread):
    """Looks at a world and the phantom of the run that was kept in `file`, from the time on when that was chosen."""

    def __init__(self, web, file):
        super().__init__(daemon=True)
        with urllib.request.urlopen(f"{web}/api/runs") as answer:
            run, = [run["id"] for run in json.load(answer) if run["file"] == str(file)]
        self.page = live_page.Page(web)
        self.page.send(type="phantom", add=run)
        self.phantom, = self.page.told("phantoms")["phantoms"]
        self.seen = []  # (time, pose of the live beam, pose of the phantom's, gap s, gap m)
        self.start()

    def run(self):
        live, = [i for i, body in enumerate(self.page.model["bodies"]) if body["name"] == "beam"]
        own, = [i for i, body in enumerate(self.phantom["bodies"]) if body["name"] == "beam"]
        try:
            while True:
                at, bodies, racing = live_page.poses(self.page.frame())
                for _, seconds, metres, poses in racing:
                    self.seen.append((at, bodies[live], poses[own], seconds, metres))
        except (EOFError, OSError):  # the world was ended
            self.page.close()

    def reset(self):
        self.page.send(type="control", action="reset", robot=-1)
        wait_for(lambda: self.seen and self.seen[-1][0] < 1, "that the world begins anew")
        self.seen.clear()

    def both_turned(self):
        """Each at its time: a person was not as quick to start the program then as now."""
        return all(math.dist(self.seen[-1][which], self.seen[0][which]) > 0.3 for which in (1, 2))

    def check(self):
        """As long as no program came both did the same."""
        apart = max(metres for at, *_, metres in self.seen if at < A_PERSON_TAKES)
        assert apart < 0.02, apart


class Page:
    """What a reader has before them: a folder, and at most one `tether` that goes on in another terminal."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "PATH": f"{pathlib.Path(TETHER).parent}:{os.environ['PATH']}"}
        self.other = None
        self.web = ""
        self.said = ""
        self.race = None

    def write(self, text):
        name = re.search(r"[\w.-]+\.\w+", text.split("\n", 1)[0])[0]
        # XML and Python take the comment as it is.
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, text):
        if GOES_ON.fullmatch(text):
            self.run_in_other_terminal(text)
            return
        if self.other:
            self.take_time()
        done = subprocess.run(["bash", "-c", text], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=stretched(), check=False)
        self.said = done.stdout

    def run_in_other_terminal(self, text):
        assert self.other is None, f"still running before {text}"
        log = self.folder / "said"
        with open(log, "w", encoding="utf-8") as output:
            self.other = subprocess.Popen(["bash", "-c", "exec " + text], cwd=self.folder, env=self.environment,
                                          stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        wait_for(lambda: re.search("^ready .*\n", log.read_text(), re.MULTILINE) or self.other.poll() is not None,
                 f"that it is ready: {text}")
        self.said = log.read_text()
        self.web = re.search(r"^ready .*\bweb=(\S+)", self.said, re.MULTILINE)[1]

    def take_time(self):
        page = live_page.Page(self.web)
        if page.hello["pace"] == "realtime":
            page.until(lambda message: isinstance(message, bytes) and live_page.poses(message)[0] >= A_PERSON_TAKES)
        page.close()

    def press(self, button):
        if button == "Race this one":
            self.race = Race(self.web, self.folder / "turret.wpilog")
        else:
            self.race.reset()

    def stop(self, signalled=True):
        if self.other is None:
            return
        if self.race:
            wait_for(self.race.both_turned, "that both turned")
        if signalled:
            self.other.send_signal(signal.SIGINT)
        status = self.other.wait(stretched())
        self.other = None
        if self.race:
            self.race.join(stretched())
            self.race.check()
            self.race = None
        assert status == 0, (self.folder / "said").read_text()


def pattern(text):
    """A regular expression of a text block."""
    anything = "[^\n]*"
    lines = [anything.join(re.escape(part) for part in line.rstrip().split("…")) for line in text.splitlines()]
    return "(?ms)" + "".join("" if line == anything else rf"^{line} *$.*?" for line in lines)


class Tutorial(unittest.TestCase):
    def test_every_block_of_every_page(self):
        self.assertEqual(len(PAGES), 4)
        with tempfile.TemporaryDirectory() as folder:
            page = Page(pathlib.Path(folder))
            try:
                for path in PAGES:
                    self.read(page, path.read_text(encoding="utf-8"), path.name)
                    page.stop()
            finally:
                if page.other:
                    page.other.kill()

    def test_the_readme_shows_the_same_lines(self):
        lines = re.search("^```python\n# drive.py\n(.*?)^```", PAGES[0].read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]
        self.assertIn(f"```python\n{lines}```", (ROOT / "README.md").read_text(encoding="utf-8"))

    def read(self, page, text, name):
        for piece in PIECE.finditer(text):
            if piece["press"]:
                page.press(piece["press"])
                continue
            if piece["stop"] or piece["end"]:
                page.stop(signalled=not piece["end"])
                continue
            kind, block = piece["kind"], piece["text"]
            where = f"{name}:{text.count(chr(10), 0, piece.start()) + 1}"
            if kind in ("xml", "yaml", "python"):
                page.write(block)
            elif kind == "sh":
                page.run(block)
            elif kind == "text":
                self.assertRegex(page.said, pattern(block), where)
            else:
                self.fail(f"{where}: nobody knows what to do with a block of {kind}")


if __name__ == "__main__":
    enter_own_network()
    unittest.main()
