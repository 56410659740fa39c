"""Machines that are network namespaces on one bridge: a thread steps into one, and what it starts and connects there is of that
machine. A cut between two is silent, as that of a cable: each takes the other's packets to a card that nobody has.

Needs root, and a kernel that lets namespaces be made."""
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import tempfile

CLONE_NEWNET = 0x40000000
NOBODY = "02:00:00:00:ff:ff"
LIBC = ctypes.CDLL(None, use_errno=True)


def is_possible():
    """Whether machines and disks can be made here: tried, since rights alone don't tell what a container lacks."""
    if os.getuid() or not shutil.which("ip"):
        return False
    try:
        Network(["probe"]).close()
        with tempfile.TemporaryDirectory() as folder:
            Disk(folder, 1).close()
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


class Network:
    """Of machines with these names. Unlike other networks' addresses, these are nobody else's: several may be there at once."""

    def __init__(self, names):
        self.numbers = {name: 1 + i for i, name in enumerate(names)}
        self.prefix = f"tether-{os.getpid()}"
        self.made = []
        try:
            self._make(names)
        except BaseException:
            self.close()
            raise

    def _make(self, names):
        for name in ["hub", *names]:
            self._ip(["netns", "add", self._space(name)])
            self.made.append(name)
        hub = self._space("hub")
        lines = ["link add bridge type bridge", "link set bridge up"]
        for name, number in self.numbers.items():
            lines += [f"link add port{number} type veth peer name card netns {self._space(name)}",
                      f"link set port{number} master bridge up"]
        self._ip(["-n", hub, "-batch", "-"], lines)
        for name, number in self.numbers.items():
            self._ip(["-n", self._space(name), "-batch", "-"],
                     [f"link set card address {self._card(name)}", f"addr add {self.address(name)}/24 dev card", "link set card up",
                      "link set lo up"])

    @staticmethod
    def _ip(arguments, lines=None):
        subprocess.run(["ip", *arguments], check=True, text=True, input=lines and "\n".join(lines) + "\n")

    def _space(self, name):
        return f"{self.prefix}-{name}"

    def _card(self, name):
        return f"02:00:00:00:00:{self.numbers[name]:02x}"

    def address(self, name):
        return f"10.77.0.{self.numbers[name]}"

    @contextlib.contextmanager
    def inside(self, name):
        """This thread is on that machine meanwhile, and so are the programs that it starts."""
        with open("/proc/thread-self/ns/net", "rb") as before, open(f"/run/netns/{self._space(name)}", "rb") as there:
            self._enter(there)
            try:
                yield
            finally:
                self._enter(before)

    @staticmethod
    def _enter(space):
        if LIBC.setns(space.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")

    def _take(self, card, one, other):
        """What `one` sends to `other` goes to that card."""
        self._ip(["-n", self._space(one), "neigh", "replace", self.address(other), "lladdr", card, "dev", "card", "nud", "permanent"])

    def cut(self, one, other):
        self._take(NOBODY, one, other)
        self._take(NOBODY, other, one)

    def heal(self, one, other):
        self._take(self._card(other), one, other)
        self._take(self._card(one), other, one)

    def close(self):
        """Ends whatever still runs there, too."""
        for name in self.made:
            found = subprocess.run(["ip", "netns", "pids", self._space(name)], check=False, capture_output=True, text=True)
            for pid in map(int, found.stdout.split()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._ip(["netns", "delete", self._space(name)])


class Disk:
    """A file system in memory at `folder`, which is made."""

    def __init__(self, folder, megabytes):
        self.folder, self.megabytes = folder, megabytes
        os.makedirs(folder, exist_ok=True)
        self._mount("-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs")

    def _mount(self, *arguments):
        subprocess.run(["mount", *arguments, self.folder], check=True, stderr=subprocess.DEVNULL)

    def fill(self):
        """No byte fits any more."""
        while True:
            about = os.statvfs(self.folder)
            used = (about.f_blocks - about.f_bfree) * about.f_frsize
            with contextlib.suppress(subprocess.CalledProcessError):  # something was written meanwhile
                return self._mount("-o", f"remount,size={max(used, about.f_frsize)}")

    def empty(self):
        self._mount("-o", f"remount,size={self.megabytes}m")

    def close(self):
        subprocess.run(["umount", "-l", self.folder], check=True)
