#!/usr/bin/env python3
"""Programs drive the runs of a sweep over every wire that can be in lock-step: the same rows however many are made at a time; and the
ready plans of such programs."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support.process import ROOT, TETHER, wait_for
from support.sweep import descendants, prove, rows, state_of, sweep, tether

BUILD = pathlib.Path(TETHER).parent
EXTENSION, ROBOT = BUILD / "tether-halsim.so", BUILD / "halsim" / "standin" / "2026" / "robot"


def client(name, *arguments):
    return " ".join(map(str, (BUILD / f"client_{name}", *arguments)))


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def plan(self, scene, command, *more, duration="0.3 s", repeat=2):
        path = self.folder / f"{scene}.yaml"
        path.write_text("\n".join([f"scene: {scene}", f"duration: {duration}", f"repeat: {repeat}", "controller:",
                                   f"  command: >-\n    {command}", *more]), encoding="utf-8")
        return path

    def same_rows(self, plan, *options):
        """With one worker and with two; given are the rows."""
        tables = [sweep(plan, self.folder / f"{plan.stem}-{jobs}.sqlite", "--quiet", "--jobs", jobs, *options) for jobs in (1, 2)]
        self.assertEqual(*tables)
        for row in tables[0]:
            self.assertEqual((row["status"], row["error"] or ""), ("ok", ""), row)
        return tables[0]

    def test_the_same_rows_over_each_wire(self):
        line = self.folder / "xrp_line.py"  # but for its patience, which a busy machine wears out
        line.write_text((ROOT / "clients/python/xrp_line.py").read_text(encoding="utf-8").replace("settimeout(0.2)", "settimeout(60)"), encoding="utf-8")
        for scene, command in (("gripper", client("lockstep_tcp", "${TETHER_LOCKSTEP_TCP##*:}", 1000)),
                               ("sharp", client("sharp_json", "${TETHER_SHARP_JSON##*:}", "${TETHER_SHARP_JSON_PEER##*:}", 1000)),
                               ("ezphysics", client("ezphysics", "${TETHER_EZPHYSICS##*:}", 10000)),
                               ("sharp-six", 'for r in RED1 RED2 RED3 BLUE1 BLUE2 BLUE3; do '
                                'eval "a=\\$TETHER_${r}_SHARP_JSON p=\\$TETHER_${r}_SHARP_JSON_PEER"; '
                                + client("sharp_json", "${a##*:}", "${p##*:}", 1000) + " & done; wait"),
                               ("xrp", f"{sys.executable} xrp_line.py $TETHER_XRP")):
            with self.subTest(scene):
                found = self.same_rows(self.plan(scene, command))
                self.assertGreaterEqual(found[0]["simulated_time"], 0.3)

    def test_a_wire_that_connects_finds_its_program(self):
        (self.folder / "connects.yaml").write_text((ROOT / "scenes/ezphysics.yaml").read_text(encoding="utf-8").replace("listen: 127.0.0.1:5803", "connect: 127.0.0.1:9"))
        (self.folder / "server.py").write_text(f"""
import os, socket, sys
sys.path.insert(0, {str(ROOT / "tests")!r})
from support.ezphysics import Peer
host, port = os.environ["TETHER_EZPHYSICS_PEER"].rsplit(":", 1)
with socket.create_server((host, int(port))) as server:
    peer = Peer(server.accept()[0])
    for _ in range(20):
        peer.state()
        peer.send()
""", encoding="utf-8")
        found = sweep(self.plan("connects.yaml", f"{sys.executable} server.py", repeat=1), self.folder / "table.sqlite", "--quiet")
        self.assertEqual([(row["status"], row["simulated_time"]) for row in found], [("ok", 0.2)], found)

    @unittest.skipUnless(EXTENSION.exists() and ROBOT.exists(), "no robot program here")
    def test_the_same_rows_with_a_robot_program(self):
        self.same_rows(self.plan("sharp-wpilib-step", f"HALSIM_EXTENSIONS={EXTENSION} TETHER_HALSIM=$TETHER_HALSIM_STEP {ROBOT} --loops 1000"))

    def test_a_program_that_ends_first_ends_its_run(self):
        found = self.same_rows(self.plan("gripper", client("lockstep_tcp", "${TETHER_LOCKSTEP_TCP##*:}", "{frames}"),
                                         "axes: [{name: frames, value: [6, 12, 18]}]", repeat=1))
        self.assertEqual([round(row["simulated_time"], 3) for row in found], [0.1, 0.2, 0.3])

    def test_what_goes_wrong_costs_its_own_run(self):
        plan = self.plan("gripper", "case {way} in crash) kill -SEGV $$;; fail) echo 'no model' >&2; exit 3;; flood) yes;; esac; "
                         + client("lockstep_tcp", "${TETHER_LOCKSTEP_TCP##*:}", 1000), "axes: [{name: way, value: [well, crash, fail, flood, well2]}]", repeat=1)
        found = sweep(plan, self.folder / "table.sqlite", "--quiet", "--jobs", 2, "--set", "controller.output=100000")
        self.assertEqual([row["status"] for row in found], ["ok", "controller_failed", "controller_failed", "limit", "ok"])
        for row, words in zip(found, ("", "signal 11", "status 3 after 0.000 s: no model", "printed more than 100000 bytes", "")):
            self.assertIn(words, row["error"] or "")
        self.assertEqual(found[0]["hash"], found[4]["hash"])

    def test_a_program_that_hangs_is_given_up(self):
        found = sweep(self.plan("gripper", "echo here I am; sleep 1000", "timeout: 0.3 s", repeat=1), self.folder / "table.sqlite", "--quiet")
        self.assertEqual(found[0]["status"], "timeout")
        self.assertIn("here I am", found[0]["error"])

    def test_wrong_plans_are_told_before_anything_is_made(self):
        table = self.folder / "table.sqlite"
        for scene, axes, words in (("frc2011-wpilib", "", "wires.halsim-ws: nothing in the protocol"),
                                   ("gripper", "axes: [{name: lockstep_tcp, value: [1, 2]}]", "axes[0].name: the program finds the address of a wire in $TETHER_LOCKSTEP_TCP")):
            plan = self.plan(scene, "true", axes)
            for command in ("check", plan), ("sweep", plan, "--output", table), ("sweep", plan, "--dry-run"):
                status, _, said = tether(*command)
                self.assertEqual(status, 1, said)
                self.assertIn(words, said)
        self.assertFalse(table.exists())

    def test_a_value_within_a_persons_quotes(self):
        """Where it needs none itself it stands there as it is; where it does the plan is refused, and the variable is the way."""
        said = 'echo "{way}" \'{way}\' "$TETHER_WAY" >&2  # it\'s {way}\n\n    exit 3'
        axes = "axes: [{name: way, value: [%s]}]"
        found = sweep(self.plan("gripper", said, axes % "there, here", repeat=1), self.folder / "plain.sqlite", "--quiet")
        self.assertEqual([row["error"].rpartition(": ")[2] for row in found], ["there there there", "here here here"])
        for quote in "\"'":
            status, _, told = tether("check", self.plan("gripper", f"echo {quote}{{way}}{quote}", axes % "there, it's $(id)", repeat=1))
            self.assertEqual(status, 1, told)
            self.assertIn(f"{{way}} stands within {quote}, where its value 'it's $(id)' could not be put; write it without these quotes, or \"$TETHER_WAY\"", told)
        plan = self.plan("gripper", "echo \\\"{way} \"$TETHER_WAY\" >&2\n\n    exit 3", axes % "it's $(id)", repeat=1)
        found = sweep(plan, self.folder / "quoted.sqlite", "--quiet")
        self.assertIn("\"it's $(id) it's $(id)", found[0]["error"])

    def need_networks(self, plan):
        status, _, said = tether("sweep", plan, "--dry-run", "--jobs", 2, "--set", "controller.fixed_ports=on", "--set", "controller.command=true")
        if status == 1 and "allows no network of its own" in said:
            self.skipTest(said)

    def test_fixed_ports_take_a_network_each_or_one_job(self):
        plan = self.plan("frc2011", client("float_udp", 5801, 5802, 100) + "  # {seed}", duration="0.1 s")
        self.need_networks(plan)
        self.same_rows(plan, "--set", "controller.fixed_ports=on")
        # Whoever may have no network of his own has one job.
        without = ["unshare", "-Urn", "sh", "-c", 'ip link set lo up && echo 0 >/proc/sys/user/max_net_namespaces && exec "$@"', "sh"]
        if subprocess.run([*without, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no namespaces here")
        for jobs, status in (2, 1), (1, 0):
            done = subprocess.run([*without, TETHER, "sweep", plan, "--output", self.folder / f"alone-{jobs}.sqlite", "--quiet", "--jobs", str(jobs),
                                   "--set", "controller.fixed_ports=on"], capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual("controller.fixed_ports: this machine allows no network of its own" in done.stderr, jobs > 1, done.stderr)
        self.assertIn("ok", [row["status"] for row in rows(self.folder / "alone-1.sqlite")])

    def test_nothing_of_a_program_stays_when_the_sweep_is_killed(self):
        """Its daemons neither, nor where each worker has users and a network of its own."""
        self.folder.chmod(0o777)
        reached = all(folder.stat().st_mode & 1 for folder in pathlib.Path(TETHER).resolve().parents)  # not in root's home
        for fixed in ("off", "on"):
            who, other = self.folder / f"who-{fixed}", {"user": 65534} if fixed == "on" and os.geteuid() == 0 and reached else {}
            plan = self.plan("gripper", f"setsid sh -c 'trap : TERM HUP; setsid sleep 1000 & echo $! $$ >>{who}; sleep 1000' & echo $$ >>{who}; sleep 1000", repeat=8)
            if fixed == "on":
                self.need_networks(plan)
            process = subprocess.Popen([TETHER, "sweep", plan, "--output", self.folder / f"killed-{fixed}.sqlite", "--quiet", "--jobs", "2",
                                        "--set", f"controller.fixed_ports={fixed}"], env={**os.environ, "XDG_STATE_HOME": str(self.folder / f"state-{fixed}")}, **other)
            try:
                wait_for(lambda file=who: file.exists() and len(file.read_text(encoding="utf-8").split()) == 6, "two runs")
                family = [int(word) for word in who.read_text(encoding="utf-8").split()] + descendants(process.pid)
            finally:
                process.kill()
                process.wait()
            wait_for(lambda each=family: not any(map(state_of, each)), f"the end of {family}")

    def test_ready_plans_by_name(self):
        small = {"arm-gains": ("axes.gain.count=2", "axes.damping.count=2", "duration=0.4 s"),
                 "wire-loss": ("axes.loss.count=2", "axes.network.value=[1, 2]", "duration=0.4 s")}
        for name, settings in small.items():
            with self.subTest(name):
                options = [word for setting in settings for word in ("--set", setting)]
                table = self.folder / f"{name}.sqlite"
                status, _, said = tether("sweep", name, "--quiet", *options, cwd=self.folder)  # its table stands in the present folder
                self.assertEqual(status, 0, said)
                found = rows(table)
                self.assertEqual([row["status"] for row in found], ["ok"] * 4, found)
                self.assertEqual(len({row["hash"] for row in found}), 4 if name == "arm-gains" else 3)  # where nothing is lost networks are alike
                prove(name, found[3], *options)


if __name__ == "__main__":
    unittest.main()
