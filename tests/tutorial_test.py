#!/usr/bin/env python3
"""Does what docs/tutorial says: every block of its pages, in order, in one folder, with the program that TETHER names.

    xml, yaml, python   is written to the file that its first line names in a comment
    sh                  is run; a block that is one `tether run` or `tether replay` goes on, once it is ready, until the page
                        says Ctrl-C or that it ends by itself
    text                is what the block before it says: these lines in this order, with … for anything

All of it in a network of its own, where that is allowed, since pages name ports.
"""
import fcntl
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

from tether_process import PATIENCE, ROOT, TETHER, wait_for

PAGES = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
PIECE = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$|(?P<stop>Ctrl-C)|(?P<end>ends by itself)", re.MULTILINE | re.DOTALL)
GOES_ON = re.compile(r"tether (run|replay) [^\n]*\n")
ENTER = ["unshare", "--map-root-user", "--net"]


def enter_own_network():
    """Starts anew in a network where all ports are free, if the machine lets us."""
    if "TUTORIAL_ALONE" in os.environ:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:  # brings lo up, as `ip link set lo up` does
            fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 1))
    elif subprocess.run([*ENTER, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        os.environ["TUTORIAL_ALONE"] = "yes"
        os.execvp(ENTER[0], [*ENTER, sys.executable, *sys.argv])


class Page:
    """What a reader has before them: a folder, and at most one `tether` that goes on in another terminal."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "PATH": f"{pathlib.Path(TETHER).parent}:{os.environ['PATH']}"}
        self.other = None
        self.said = ""

    def write(self, text):
        name = re.search(r"[\w.-]+\.\w+", text.split("\n", 1)[0])[0]
        # XML and Python take the comment as it is.
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, text):
        if GOES_ON.fullmatch(text):
            self.run_in_other_terminal(text)
            return
        done = subprocess.run(["bash", "-c", text], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False)
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

    def stop(self, signalled=True):
        if self.other is None:
            return
        if signalled:
            self.other.send_signal(signal.SIGINT)
        status = self.other.wait(PATIENCE)
        self.other = None
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
