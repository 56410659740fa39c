"""The collector as a process, a PostgreSQL cluster of the test's own, and small clients; standard library only."""
import base64
import contextlib
import glob
import json
import os
import pathlib
import pty
import pwd
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from support.process import at_best, seconds, wait_for  # noqa: F401: tests run by hand have a state folder of their own by it

TETHER = os.environ["TETHER"]
SOURCE = pathlib.Path(os.environ["TETHER_SOURCE_DIR"])
LONG = os.environ.get("TETHER_LONG") == "1"


def wait_until(condition, what, seconds=20):
    """Calls `condition` until it returns something true, which is returned; asked as often as a server can bear."""
    return wait_for(condition, what, seconds, pause=0.02)


class LineSocket(socket.socket):
    """A connection on which lines come, such as a collector's acknowledgements."""

    def __init__(self, address, timeout):
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self.rest = b""
        try:
            self.settimeout(timeout)
            self.connect(address)
        except OSError:
            self.close()
            raise

    def lines(self):
        """Those that are whole of what comes within the timeout; none when nothing does. OSError: it was closed."""
        try:
            data = self.recv(65536)
        except TimeoutError:
            return []
        if not data:
            raise OSError("closed")
        *lines, self.rest = (self.rest + data).split(b"\n")
        return lines


def own_host():
    """A loopback address of this process alone. Devices that go on trying a collector that was killed would else find another
    test's at its port."""
    number = os.getpid() % 65000
    return f"127.1.{number // 250}.{1 + number % 250}"


class Pages:
    """What is asked of a program whose pages are at `web`."""

    def request(self, method, path, body=None, headers=None, timeout=60):
        """(status, text) of one request."""
        if body is not None and not isinstance(body, bytes):
            body = body.encode()
        request = urllib.request.Request(self.web + path, method=method, data=body, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def get(self, path):
        status, text = self.request("GET", path)
        assert status == 200, (path, status, text)
        return text

    def put(self, path, value):
        status, text = self.request("PUT", path, json.dumps(value))
        assert status == 200, (path, status, text)
        return json.loads(text)

    def remove(self, path):
        """Values, as a page does: again for as long as there is more. How many."""
        removed, end = 0, ""
        while True:
            status, text = self.request("DELETE", path + end)
            assert status in (200, 202), (path, status, text)
            answer = json.loads(text)
            assert answer["more"] == (status == 202), (path, status, text)
            removed += answer["removed_values"]
            if status == 200:
                return removed
            end = f"&to={answer['to']}" if answer["to"] is not None and "to=" not in path else ""

    def status(self):
        return json.loads(self.get("/telemetry/status"))

    def devices(self):
        return {device["device"]: device for device in json.loads(self.get("/telemetry/devices"))}

    def table(self, query=""):
        return json.loads(self.get("/telemetry.json?" + query))

    def wait_stored(self, values):
        wait_until(lambda: self.status()["stored_values"] >= values, f"{values} values stored")

    def websocket(self, path, **headers):
        return WebSocket(self.web, path, headers)


class Collector(Pages):
    """`tether collect` on free ports; with `scene`, `tether run` of it; with `terminal`, on one."""
    host = "127.0.0.1"  # where devices connect

    def __init__(self, store, *settings, config=None, scene=None, prefix=(), terminal=False, **environment):
        command = [*prefix, TETHER, *(["run", str(scene)] if scene else ["collect"]), *([str(config)] if config else [])]
        for setting in (f"telemetry.store={store}", f"telemetry.listen={self.host}:0", "web.listen=127.0.0.1:0", *settings):
            command += ["--set", setting]
        self.log = []
        self.process, self.stderr = self._start(command, terminal, {**os.environ, **environment})
        line = ""
        while not line.startswith("ready"):
            line = self.stderr.readline()
            self.log.append(line)
            if not line:
                self.stderr.close()
                self.process.wait(30)
                raise RuntimeError("the collector did not start:\n" + "".join(self.log))
        match = re.match(r"ready (?:.* )?robocar-xml=([^ :]+):(\d+) (?:.* )?web=(http://\S+)", line)
        self.address = (match[1], int(match[2]))
        self.web = match[3]
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()

    @staticmethod
    def _start(command, terminal, environment):
        """The process, and what to read its standard error from: of a terminal, every refreshed line is a line."""
        if not terminal:
            process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
            return process, process.stderr
        ours, its = pty.openpty()
        process = subprocess.Popen(command, stderr=its, env=environment)
        os.close(its)
        return process, os.fdopen(ours, encoding="utf-8", errors="replace")

    def _read_log(self):
        with contextlib.suppress(OSError):  # a terminal without its program
            for line in self.stderr:
                self.log.append(line)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Ends it in order."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            status = self.process.wait(30)
            self.reader.join(5)
            self.stderr.close()
            assert status == 0, (status, "".join(self.log))

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(5)
        self.stderr.close()

    def connect(self):
        connection = socket.create_connection(self.address, timeout=20)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


class WebSocket:
    """A client of RFC 6455, as far as tests need it."""

    def __init__(self, web, path, headers=None, receive_buffer=None, connection=None):
        """`connection`: one that is made already, for example by TLS."""
        host, port = re.match(r"https?://([^:]+):(\d+)", web).groups()
        self.socket = connection or socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(20)
        if not connection:
            self.socket.connect((host, int(port)))
        fields = {"Host": f"{host}:{port}", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                  "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(), **(headers or {})}
        request = f"GET {path} HTTP/1.1\r\n" + "".join(f"{key}: {value}\r\n" for key, value in fields.items()) + "\r\n"
        self.socket.sendall(request.encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        self.head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        self.status = int(self.head.split()[1])

    def _more(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError
        self.buffer += data

    def _take(self, size):
        while len(self.buffer) < size:
            self._more()
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def send(self, text, opcode=1):
        payload = text.encode() if isinstance(text, str) else text
        mask = os.urandom(4)
        size = len(payload)
        head = bytes([0x80 | opcode])
        head += bytes([0x80 | size]) if size < 126 else (
            struct.pack("!BH", 0x80 | 126, size) if size < 65536 else struct.pack("!BQ", 0x80 | 127, size))
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def receive(self):
        """The next text; EOFError when closed. Pings are answered."""
        while True:
            first, size = self._take(2)
            if size == 126:
                size, = struct.unpack("!H", self._take(2))
            elif size == 127:
                size, = struct.unpack("!Q", self._take(8))
            payload = self._take(size)
            opcode = first & 15
            if opcode == 8:
                raise EOFError(payload[2:].decode())
            if opcode == 9:
                self.send(payload, 10)
            elif opcode in (1, 2):
                return payload.decode()

    def close(self):
        self.socket.close()


class Postgres:
    """A cluster in a folder of its own, on a Unix socket, run by an unprivileged user; never touches the system's. `machine`: an
    address at which it lets everybody in, too, and the context in which it is started."""

    def __init__(self, machine=None, folder=None):
        binaries = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not binaries:
            raise RuntimeError("PostgreSQL is not installed: script/setup --test")
        self.binaries = pathlib.Path(binaries[-1])
        self.user = "postgres" if os.getuid() == 0 else None
        self.machine = machine or ("", contextlib.nullcontext)
        self.folder = folder or tempfile.mkdtemp(prefix="tether-postgres-")
        if self.user:
            account = pwd.getpwnam(self.user)
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        self._run("initdb", "--pgdata", f"{self.folder}/data", "--auth", "trust", "--username", "tether", "--no-sync",
                  "--encoding", "UTF8", "--locale", "C")
        if machine:
            with open(f"{self.folder}/data/pg_hba.conf", "a", encoding="utf-8") as rules:
                rules.write("host all all samenet trust\n")
        self.url = f"postgresql://tether@/postgres?host={self.folder}"
        self.process = None
        self.databases = 0
        self.start()

    def _run(self, program, *arguments):
        subprocess.run([self.binaries / program, *arguments], check=True, user=self.user, cwd="/",
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def start(self):
        self.output = open(f"{self.folder}.log", "a", encoding="utf-8")
        address, inside = self.machine
        with inside():
            self.process = subprocess.Popen(
                [self.binaries / "postgres", "-D", f"{self.folder}/data", "-k", self.folder, "-c", f"listen_addresses={address}",
                 "-c", "max_connections=40", "-c", "autovacuum=off", "-c", "max_locks_per_transaction=256"],
                user=self.user, cwd="/", stdout=self.output, stderr=self.output)

        def is_ready():
            assert self.process.poll() is None, pathlib.Path(f"{self.folder}.log").read_text(encoding="utf-8")
            return subprocess.run([self.binaries / "pg_isready", "-q", "-h", self.folder], check=False).returncode == 0
        wait_until(is_ready, "PostgreSQL is ready", 60)

    def stop(self, number=signal.SIGINT):
        """SIGINT: the fast shutdown; SIGKILL and its like are up to the caller."""
        self.process.send_signal(number)
        self.process.wait(60)
        self.output.close()

    def _members(self):
        """The server, and every process of it."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii")
        return [self.process.pid, *map(int, children.split())]

    @staticmethod
    def _is_there(process):
        """Whether it runs still; one that nobody has asked after is dead."""
        try:
            return pathlib.Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] not in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def _signal_all(self, number):
        """The server, then every process of it."""
        for process in self._members():
            with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
                os.kill(process, number)

    def freeze(self, stopped):
        """Its server and every process of that: stopped, or going on."""
        self._signal_all(signal.SIGSTOP if stopped else signal.SIGCONT)

    def kill(self):
        """All its processes at once, which are gone then. It is stopped first, or it would start others meanwhile."""
        self.process.send_signal(signal.SIGSTOP)
        members = self._members()
        for process in members:
            with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
                os.kill(process, signal.SIGKILL)
        self.process.wait(60)
        wait_until(lambda: not any(map(self._is_there, members[1:])), "no process of PostgreSQL is left", 60)
        self.output.close()

    def query(self, sql):
        """Rows of text."""
        result = subprocess.run([self.binaries / "psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1",
                                 self.url, "-c", sql], check=True, capture_output=True, text=True)
        return [line.split("\t") for line in result.stdout.splitlines()]

    def run_file(self, path):
        subprocess.run([self.binaries / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", self.url, "-f", path], check=True,
                       stdout=subprocess.DEVNULL)

    def database(self):
        """The URL of a new, empty database in the cluster."""
        self.databases += 1
        name = f"t{self.databases}"
        self.query(f"CREATE DATABASE {name}")
        return f"postgresql://tether@/{name}?host={self.folder}"

    def drop(self):
        """An empty database again."""
        self.query("DROP SCHEMA IF EXISTS tether CASCADE")

    def close(self):
        if self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{self.folder}.log")


@contextlib.contextmanager
def small_disk(folder):
    """A file system of 1 MB at `folder`, which is made; skips the test where nothing can be mounted."""
    os.mkdir(folder)
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]
    if os.getuid() or subprocess.run(mount, check=False, stderr=subprocess.DEVNULL).returncode:
        raise unittest.SkipTest("no mounting here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=False)


class Stores:
    """Fresh stores of all kinds, for tests that run with each."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tether-telemetry-")
        self.count = 0
        self._postgres = None
        self._clickhouse = None

    @property
    def kinds(self):
        """Those that this machine has."""
        from support.clickhouse import is_installed
        return ["sqlite", "postgresql"] + ["clickhouse"] * is_installed()

    @property
    def clickhouse(self):
        from support.clickhouse import ClickHouse
        if self._clickhouse is None:
            self._clickhouse = ClickHouse()
        return self._clickhouse

    @property
    def postgres(self):
        if self._postgres is None:
            self._postgres = Postgres()
        return self._postgres

    def file(self, name):
        self.count += 1
        return f"{self.folder}/{self.count}-{name}"

    def url(self, kind):
        if kind == "sqlite":
            return "sqlite:" + self.file("telemetry.sqlite")
        if kind == "clickhouse":
            self.count += 1
            return f"{self.clickhouse.url}_{self.count}"
        self.postgres.drop()
        return self.postgres.url

    def settings(self, kind):
        return [] if kind == "sqlite" else ["telemetry.spool=" + self.file("spool")]

    def close(self):
        if self._postgres:
            self._postgres.close()
        if self._clickhouse:
            self._clickhouse.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class WithStores(unittest.TestCase):
    """Tests of a class share one `stores`."""

    @classmethod
    def setUpClass(cls):
        cls.stores = Stores()

    @classmethod
    def tearDownClass(cls):
        cls.stores.close()


def message(device, time_ms, samples, acknowledge=False):
    """A MESSAGE: samples are (set, time, {data: {attribute: value}})."""
    from xml.sax.saxutils import quoteattr
    sets = "".join(
        f"<{name} time='{when}'>" + "".join(
            f"<{data} " + " ".join(f"{key}={quoteattr(str(value))}" for key, value in values.items()) + "/>"
            for data, values in content.items()) + f"</{name}>"
        for name, when, content in samples)
    ack = " ack='yes'" if acknowledge else ""
    return f"<?xml version=\"1.0\"?>\n<MESSAGE id={quoteattr(device)} time='{time_ms}'{ack}>{sets}</MESSAGE>\n"
