#!/usr/bin/env python3
"""Does what docs/fleet.md says: its blocks of commands, in order, in one folder. A block that is one server goes on, once it listens.
In a network of its own, where that is allowed, since the page names ports."""
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import unittest

import tutorial_test
from support.process import ROOT, TETHER, stretched, wait_for

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PORTS = {"nats-server": 4222, "tether collect": 8080, "tether store": 8081}


def listens(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


class Document(unittest.TestCase):
    def setUp(self):
        if "TUTORIAL_ALONE" not in os.environ and any(map(listens, PORTS.values())):
            self.skipTest("no network of our own, and somebody has the ports")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {**os.environ, "PATH": f"{pathlib.Path(TETHER).resolve().parent}:{os.environ['PATH']}"}

    def start(self, command, port):
        process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        wait_for(lambda: listens(port) or process.poll() is not None, command)
        self.assertIsNone(process.poll(), command)

    def test_its_commands(self):
        said = ""
        for block in BLOCK.findall((ROOT / "docs/fleet.md").read_text(encoding="utf-8")):
            port = next((port for name, port in PORTS.items() if block.startswith(name)), None)
            if port:
                self.start(block.strip(), port)
                continue
            done = subprocess.run(["bash", "-ec", block], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                                  timeout=stretched(), check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            said += done.stdout
        self.assertRegex(said, r"(?m)^ROBO1,.*,1\.5$")
        self.assertIn('"status":"pass"', said)


if __name__ == "__main__":
    tutorial_test.enter_own_network()
    unittest.main()
