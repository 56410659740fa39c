#!/usr/bin/env python3
"""What docs/sweep.md says of GNU parallel, ssh and Kubernetes: its blocks are run as they stand, and each table is the local one.

ssh speaks to a real server on a free port of this machine. Its keys are those of a home of its own: the list of accounts says so, in a view of the
files that only this test has, where that is allowed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

from support.process import PATIENCE, ROOT, TETHER, wait_for
from support.slurm import free_ports
from support.sweep import rows, tether

PAGE = (ROOT / "docs" / "sweep.md").read_text(encoding="utf-8")
PLAN = """scene: sharp
duration: 0.3 s
axes:
  - {name: heading, set: robots.sharp.heading, range: [0 deg, 90 deg], count: 11}
metrics:
  - {name: final_y, signal: chassis.y, measure: final}
"""
ENTER = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--map-current-user", "--keep-caps", "--mount"]


def enter_own_files():
    """Starts anew where mounts are nobody else's."""
    if "LAUNCHERS_ALONE" not in os.environ and subprocess.run([*ENTER, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        os.environ["LAUNCHERS_ALONE"] = "yes"
        os.execvp(ENTER[0], [*ENTER, sys.executable, *sys.argv])


def block(title, kind):
    """The first block of a kind below a heading."""
    chapter = PAGE[PAGE.index(f"### {title}\n"):]
    return re.search(rf"```{kind}\n(.*?)```", chapter, re.DOTALL).group(1)


class Server:
    """Dropbear, and a home whose ssh knows it by the names of three machines."""

    def __init__(self, folder):
        self.home = folder / "home"
        keys = self.home / ".ssh"
        keys.mkdir(mode=0o700, parents=True)
        port = free_ports(1)[0]
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys / "id_ed25519"], check=True)
        subprocess.run(["dropbearkey", "-t", "ed25519", "-f", folder / "host"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.copy(keys / "id_ed25519.pub", keys / "authorized_keys")
        (keys / "config").write_text(f"Host node1 node2 node3\n  HostName 127.0.0.1\n  Port {port}\n  StrictHostKeyChecking no\n  LogLevel ERROR\n",
                                     encoding="ascii")
        shell = folder / "shell"  # finds Tether, as it does where that is installed
        shell.write_text(f"#!/bin/sh\nPATH='{os.environ['PATH']}' exec /bin/sh \"$@\"\n", encoding="utf-8")
        shell.chmod(0o755)
        for name, text in ("passwd", f"tester:x:{os.getuid()}:{os.getgid()}::{self.home}:{shell}\n"), ("shells", f"{shell}\n"):
            (folder / name).write_text(text, encoding="ascii")
            subprocess.run(["mount", "--bind", folder / name, f"/etc/{name}"], check=True)
        self.said = open(folder / "dropbear.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "dropbear", "-F", "-E", "-s", "-r", folder / "host",
                                         "-P", folder / "dropbear.pid", "-p", f"127.0.0.1:{port}"], stdout=self.said, stderr=self.said)
        wait_for(lambda: subprocess.run(["ssh", "node1", "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0,
                 "that ssh is let in", PATIENCE)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.said.close()
        subprocess.run(["umount", "/etc/passwd", "/etc/shells"], check=True)


class Launchers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="tether-launchers-")))
        cls.folder.chmod(0o755)
        (cls.folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
        status, _, said = tether("sweep", cls.folder / "plan.yaml", "--output", cls.folder / "local.sqlite")
        assert status == 0, said
        os.environ["PATH"] = f"{pathlib.Path(TETHER).resolve().parent}:{os.environ['PATH']}"

    def setUp(self):
        shutil.rmtree(self.folder / "plan.shards", ignore_errors=True)
        (self.folder / "plan.sqlite").unlink(missing_ok=True)

    def run_there(self, *command, **options):
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=200,
                              **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def check(self, parts):
        self.assertEqual(rows(self.folder / "plan.sqlite"), rows(self.folder / "local.sqlite"))
        made = {file.name.split("-")[0] for file in (self.folder / "plan.shards").glob(f"*-of-{parts}-*.rows")}
        self.assertEqual(made, {str(part) for part in range(1, parts + 1)})

    def test_gnu_parallel(self):
        self.run_there("sh", "-ec", block("GNU parallel", "sh"))
        self.check(8)

    def test_ssh(self):
        if "LAUNCHERS_ALONE" not in os.environ:
            self.skipTest("nobody may mount here")
        server = Server(self.folder)
        try:
            self.run_there("sh", "-ec", block("ssh", "sh"))
        finally:
            server.close()
        self.check(3)

    def test_kubernetes(self):
        """There is none here: what each of its pods would do is done."""
        job = yaml.safe_load(block("Kubernetes", "yaml"))
        self.assertEqual((job["apiVersion"], job["kind"], job["spec"]["completionMode"]), ("batch/v1", "Job", "Indexed"))
        pod = job["spec"]["template"]["spec"]
        container, = pod["containers"]
        self.assertEqual([mount["name"] for mount in container["volumeMounts"]], [volume["name"] for volume in pod["volumes"]])
        self.assertEqual(container["workingDir"], container["volumeMounts"][0]["mountPath"])
        for index in range(job["spec"]["completions"]):
            self.run_there(*container["command"], env={**os.environ, "JOB_COMPLETION_INDEX": str(index)})
        self.run_there("tether", "sweep", "plan.yaml", "--collect")
        self.check(job["spec"]["completions"])


if __name__ == "__main__":
    enter_own_files()
    unittest.main()
