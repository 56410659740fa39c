"""A cluster of Slurm on this machine: slurmctld, several slurmd and munge, with a configuration, key, socket and ports of their own. Nothing of the
system's is used or touched. It needs no cgroups and no root, as Slurm 22.05 and 24.11 of Debian allow it."""
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from support.process import wait_for

PATIENCE = 60  # s that the cluster may take on a busy machine

# EnableIPv6: for IPv4 alone Slurm 24.11 finds no address on a machine that has only loopback.
# cred_expire (s, at least 5): what a node left that went down is given to another once the credentials of its tasks are out of date.
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
CommunicationParameters=EnableIPv6
PlugStackConfig={folder}/no_plugins
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/slurmd_%n.pid
SlurmdLogFile={folder}/slurmd_%n.log
SlurmdSpoolDir={folder}/spool_%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
MessageTimeout={message_timeout}
TCPTimeout=1
SlurmdTimeout={slurmd_timeout}
KillWait=1
MaxArraySize={max_array_size}
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_interval=1,sched_min_interval=0,bf_interval=1
PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def free_ports(count):
    """Below those that the system gives out by itself, so that nobody has them before a daemon does."""
    lowest = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    found = []
    while len(found) < count:
        port = random.randrange(10000, max(lowest, 20000))
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


def processes_with(*variables):
    """Those that were started with all these NAME=VALUE in their environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:  # it has ended, or is another user's
            continue
        if all(variable.encode() in environment for variable in variables):
            found.append(int(entry.name))
    return found


def parent_called(process, name):
    """The parent of a process, in a list, where that has this name; else none."""
    try:
        parent = int(pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        return [parent] if pathlib.Path(f"/proc/{parent}/comm").read_text(encoding="utf-8").strip() == name else []
    except OSError:  # it has ended
        return []


def signal_all(processes, number):
    for process in processes:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            pass


class Slurm:
    """Use it in a with statement; every process of it is gone afterwards. `environment` is for whoever calls Slurm's commands.
    A node that says nothing for about `message_timeout` + `slurmd_timeout` seconds counts as down."""

    def __init__(self, nodes=2, slurmd_timeout=60, message_timeout=10, max_array_size=1001, cores=1):
        if not shutil.which("slurmctld") or not shutil.which("munged"):
            raise RuntimeError("Slurm is not installed: script/setup --test")
        self.folder = tempfile.mkdtemp(prefix="tether-slurm-")
        self.cores = cores  # of each node, whatever this machine has
        self.nodes = [f"node{number}" for number in range(1, nodes + 1)]
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH"))}
        self.environment["SLURM_CONF"] = f"{self.folder}/slurm.conf"
        self.timeouts = {"slurmd_timeout": slurmd_timeout, "message_timeout": message_timeout,
                         "max_array_size": max_array_size}
        self.daemons = {}
        try:
            self.start()
        except BaseException:
            print(self.said())
            self.close()
            raise

    def _path(self, name):
        return pathlib.Path(self.folder, name)

    def _daemon(self, name, *command, environment=None):
        """Ends with this test, whatever becomes of it."""
        with open(self._path(f"{name}.said"), "wb") as said:
            self.daemons[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *map(str, command)], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                env={**self.environment, **(environment or {})}, cwd=self.folder, start_new_session=True)

    def said(self):
        """What the daemons said last, for who has to find out why."""
        texts = []
        for file in sorted(self._path("").glob("*.said")) + sorted(self._path("").glob("*.log")):
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            texts.append(f"--- {file.name}\n" + "\n".join(lines[-20:]))
        return "\n".join(texts)

    def no_cgroups(self):
        """The word for a machine that has none, or none for us. Before 23.02 there is no such word; version 1 is not looked for until it is used."""
        version = self.ask("slurmctld", "-V").split()[-1]
        return "disabled" if int(version.split(".")[0]) >= 23 else "cgroup/v1"

    def start(self):
        host = socket.gethostname().split(".")[0]
        ports = free_ports(1 + len(self.nodes))
        user = subprocess.run(["id", "-un"], check=True, capture_output=True, text=True).stdout.strip()
        text = CONFIGURATION.format(host=host, user=user, folder=self.folder, ports=ports, **self.timeouts)
        for node, port in zip(self.nodes, ports[1:]):
            text += f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self.cores} State=UNKNOWN\n"
        self._path("slurm.conf").write_text(text, encoding="utf-8")
        self._path("cgroup.conf").write_text(f"CgroupPlugin={self.no_cgroups()}\n", encoding="ascii")
        self._path("no_plugins").touch()
        self._path("state").mkdir(exist_ok=True)
        key = self._path("munge.key")
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self._daemon("munged", "munged", "--foreground", "--force", f"--key-file={key}", "--num-threads=2",
                     *(f"--{kind}-file={self.folder}/munge.{kind}" for kind in ("pid", "log", "seed")),
                     f"--socket={self.folder}/munge.socket")
        wait_for(self._path("munge.socket").exists, "munge's socket", PATIENCE)
        self._daemon("slurmctld", "slurmctld", "-D", "-c")
        for node in self.nodes:
            self.start_node(node)
        wait_for(lambda: self.states() == {node: "idle" for node in self.nodes}, "a cluster of idle nodes", PATIENCE)

    def start_node(self, node, blind_to=None):
        """`blind_to`: a folder that is another, an empty one, on this node; root alone may have that."""
        hide = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', blind_to] if blind_to else []
        self._daemon(node, *hide, "slurmd", "-D", "-N", node, environment={"TETHER_TEST_NODE": f"{self.folder}/{node}"})

    def ask(self, *command):
        """What a command of Slurm's says; "" where the cluster does not answer."""
        return subprocess.run(command, check=False, capture_output=True, text=True, env=self.environment).stdout

    def states(self):
        """{"node1": "idle", …}"""
        return dict(line.split() for line in self.ask("sinfo", "--noheader", "--Node", "--format=%N %T").splitlines())

    def tasks(self):
        """(number in its array, state, node) of each task that waits or runs."""
        return [tuple(line.split("|")) for line in self.ask("squeue", "--noheader", "--array", "--format=%K|%T|%N").splitlines()]

    def _members(self, node):
        """slurmd has its variable; what tasks run, Slurm's own; slurmstepd, above these, shows none in every version."""
        tasks = processes_with(f"SLURM_CONF={self.folder}/slurm.conf", f"SLURMD_NODENAME={node}")
        steps = [step for task in tasks for step in parent_called(task, "slurmstepd")]
        return processes_with(f"TETHER_TEST_NODE={self.folder}/{node}") + steps + tasks

    def kill_node(self, node):
        """As if its power failed: slurmd, its slurmstepd and all that these started stop at one moment, then are gone. Returns how many
        processes that were."""
        stopped = set()
        while True:
            members = set(self._members(node)) - stopped
            if not members:
                break
            signal_all(members, signal.SIGSTOP)
            stopped |= members
        signal_all(stopped, signal.SIGKILL)
        self.daemons.pop(node).wait()
        return len(stopped)

    def set_down(self, node):
        """As who looks after a cluster does with a node that died, so that nobody waits for Slurm to find out by itself: its tasks go to
        others, and at once, not when their credentials are out of date."""
        subprocess.run(["scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=no power"], check=True, env=self.environment)
        jobs = self.ask("squeue", "--noheader", "--states=PENDING", "--format=%A %r").splitlines()
        for job in [line.split()[0] for line in jobs if line.endswith("BeginTime")]:
            self.ask("scontrol", "update", f"JobId={job}", "StartTime=now")

    def close(self):
        """Keeps trying, since slurmd may be about to start something."""
        for name in list(self.daemons):
            if name in self.nodes:
                self.kill_node(name)
        for daemon in self.daemons.values():
            daemon.kill()
            daemon.wait()
        end = time.monotonic() + PATIENCE
        while True:
            left = processes_with(f"SLURM_CONF={self.folder}/slurm.conf")
            if not left or time.monotonic() > end:
                break
            signal_all(left, signal.SIGKILL)
            time.sleep(0.01)
        shutil.rmtree(self.folder, ignore_errors=True)
        assert not left, f"processes {left} of the cluster can't be ended"

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            print(self.said())
        self.close()
