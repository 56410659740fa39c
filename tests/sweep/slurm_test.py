#!/usr/bin/env python3
"""`tether sweep --slurm` on a real cluster of two nodes: the table is the local one, whatever ran where and whatever died; who comes back waits for
what is under way; what Slurm refuses is said with a remedy."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

from support.process import TETHER, Tether, wait_for
from support.slurm import PATIENCE, Slurm
from support.sweep import rows

LONG = "TETHER_LONG" in os.environ
PLAN = """scene: gripper
duration: {duration} s
axes:
  - {{name: mass, set: models.gripper.bodies.forearm.mass, range: [2, 6], count: {points}}}
repeat: 2
metrics:
  - {{name: base, signal: base.position, measure: final}}
"""
# Runs that take a tenth of a second and hardly any of a processor, so that a task is never over before it can be killed.
SLOW = f"""
controller:
  command: sleep 0.1; exec {pathlib.Path(TETHER).resolve().parent}/client_lockstep_tcp ${{TETHER_LOCKSTEP_TCP##*:}}
"""


class OnSlurm(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        # Where nobody helps, Slurm has to find out by itself that a node is gone.
        cls.slurm = cls.enterClassContext(Slurm(max_array_size=31, **({"slurmd_timeout": 3, "message_timeout": 2} if LONG else {})))

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tether-sweep-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.plan = self.folder / "plan.yaml"

    def write_plan(self, **values):
        self.plan.write_text(PLAN.format(**values), encoding="utf-8")

    def sweep(self, *arguments, environment=None):
        return subprocess.run([TETHER, "sweep", self.plan, *map(str, arguments)], check=False, capture_output=True, text=True,
                              env=environment or self.slurm.environment, timeout=600)

    def start(self, *arguments):
        """The same, while this test does something else."""
        return Tether("sweep", self.plan, "--slurm", *arguments, ready=False, environment=self.slurm.environment)

    def refused(self, *arguments, environment=None):
        done = self.sweep("--slurm", *arguments, environment=environment)
        self.assertEqual(done.returncode, 3, done.stderr)
        return done.stderr

    def hold_tasks(self):
        """They are taken, and wait until `let_tasks_run()`, however long this test takes meanwhile."""
        self.slurm.ask("scontrol", "update", "PartitionName=main", "State=DOWN")
        self.addCleanup(self.let_tasks_run)

    def let_tasks_run(self):
        self.slurm.ask("scontrol", "update", "PartitionName=main", "State=UP")

    def test_what_slurm_refuses_is_said_with_a_remedy(self):
        self.write_plan(duration=0.2, points=20)
        self.assertRegex(self.refused("--partition", "nowhere"), r"invalid partition specified: nowhere.*sinfo lists the partitions")
        self.assertRegex(self.refused("--time", "soon"), r"Invalid --time specification.*--time takes minutes")
        self.assertRegex(self.refused("--chunk", 1), r"--chunk 1: makes more than the 30 tasks .*MaxArraySize.*at least 2")
        nothing = {**self.slurm.environment, "PATH": str(self.folder)}
        self.assertIn("there is no such program here", self.refused(environment=nothing))
        nobody = self.folder / "slurm.conf"
        nobody.write_text("ClusterName=none\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=1\nTCPTimeout=1\nMessageTimeout=1\n"
                          f"AuthInfo=socket={self.slurm.folder}/munge.socket\n", encoding="ascii")
        self.assertRegex(self.refused(environment={**self.slurm.environment, "SLURM_CONF": str(nobody)}),
                         "Unable to contact slurm controller.*slurmctld has to run")

    def test_who_detaches_collects_or_comes_back(self):
        self.write_plan(duration=0.2, points=10)
        self.hold_tasks()
        done = self.sweep("--slurm", "--detach", "--chunk", 10, "--array-limit", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("is submitted", done.stderr)
        missing = self.sweep("--collect")
        self.assertEqual(missing.returncode, 3, missing.stderr)
        self.assertRegex(missing.stderr, "20 of 20 rows are not there: runs")
        with self.start("--chunk", 10) as again:
            again.wait_line("tasks of this sweep are under way already", PATIENCE)
            self.let_tasks_run()
            self.assertEqual(again.wait_exit(PATIENCE), 0, again.text())
            self.assertNotIn("is submitted", again.text())
        self.assertEqual(len(rows(self.folder / "plan.sqlite")), 20)

    def test_interrupted_it_cancels_its_array(self):
        self.write_plan(duration=100, points=10)
        with self.start() as sweep:
            wait_for(lambda: any(state == "RUNNING" for _, state, _ in self.slurm.tasks()), "a running task", PATIENCE)
            self.assertEqual(sweep.stop(signal.SIGINT), 130, sweep.text())
        wait_for(lambda: not self.slurm.tasks(), "an empty queue", PATIENCE)

    def test_what_is_missing_is_submitted_again(self):
        self.write_plan(duration=0.2, points=10)
        self.hold_tasks()
        with self.start("--chunk", 10, "--array-limit", 1) as sweep:
            array = re.search(r"array (\d+) is submitted", sweep.wait_line("is submitted")).group(1)
            self.slurm.ask("scancel", f"{array}_2")  # as anybody may
            self.let_tasks_run()
            self.assertEqual(sweep.wait_exit(patience=300), 0, sweep.text())
        self.assertRegex(sweep.text(), r"task 2: left the queue without its rows: it was cancelled")
        self.assertEqual(len(re.findall("is submitted", sweep.text())), 2)
        self.assertEqual(self.sweep("--output", self.folder / "local.sqlite").returncode, 0)
        self.assertEqual(rows(self.folder / "plan.sqlite"), rows(self.folder / "local.sqlite"))

    @unittest.skipUnless(LONG and os.getuid() == 0, "takes long, and root")
    def test_a_node_that_does_not_see_the_folder_is_named_and_the_others_do_its_work(self):
        self.plan.write_text(PLAN.format(duration=0.5, points=16) + SLOW, encoding="utf-8")
        self.slurm.kill_node("node2")
        self.slurm.start_node("node2", blind_to=self.folder)
        wait_for(lambda: self.slurm.states()["node2"] == "idle", "node2", PATIENCE)
        done = self.sweep("--slurm", "--chunk", 8)
        self.slurm.kill_node("node2")
        self.slurm.start_node("node2")
        wait_for(lambda: self.slurm.states()["node2"] == "idle", "node2", PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"task \d on node2: FAILED \(JobLaunchFailure\); every node has to see the folder \S+/plan.shards"
                                      r"|task \d is run again: its node went down or could not start it")  # 22.05; 24.11
        self.assertNotIn("node1:", done.stderr)
        self.assertEqual(len(rows(self.folder / "plan.sqlite")), 32)

    def test_with_a_node_killed_the_table_is_the_same(self):
        self.plan.write_text(PLAN.format(duration=0.5, points=16) + SLOW, encoding="utf-8")
        with self.start("--chunk", 16) as sweep:
            wait_for(lambda: len([task for task in self.slurm.tasks() if task[1] == "RUNNING"]) == 2, "two running tasks", PATIENCE)
            dying = next(number for number, _, node in self.slurm.tasks() if node == "node1")
            wait_for(lambda: list((self.folder / "plan.shards").glob(f"{dying}-of-*.rows")), "rows of node1", PATIENCE)
            self.assertGreaterEqual(self.slurm.kill_node("node1"), 4)  # slurmd, slurmstepd, the task, its worker, and maybe a program
            if not LONG:
                self.slurm.set_down("node1")
            local = self.sweep("--output", self.folder / "local.sqlite", "--jobs", 4)
            self.assertEqual(local.returncode, 0, local.stderr)
            self.assertEqual(sweep.wait_exit(patience=300), 0, sweep.text())
        self.assertIn(f"task {dying} is run again", sweep.text())
        self.assertEqual(len(re.findall("is submitted", sweep.text())), 1)
        self.assertEqual(rows(self.folder / "plan.sqlite"), rows(self.folder / "local.sqlite"))
        self.assertEqual([row["status"] for row in rows(self.folder / "plan.sqlite")], 32 * ["ok"])


if __name__ == "__main__":
    unittest.main()
