"""A real nats-server with JetStream, or several in a cluster, on loopback and free ports; and the writers that take of it."""
import base64
import binascii
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from support.process import TETHER
from support.telemetry import Pages, wait_until


def free_ports(count):
    """Of the kernel's choice, all at once, so that they differ."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Certificates:
    """What signs, and what it has signed: of servers on 127.0.0.1, and of a client."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.ca = self.folder / "ca.pem"
        self.openssl("req", "-x509", *self._new("ca"), "-subj", "/CN=Tether test", "-days", "2")
        for name, subject, more in ("server", "/CN=nats", "subjectAltName=IP:127.0.0.1"), ("client", "/CN=collector", "keyUsage=digitalSignature"):
            extensions = self.folder / f"{name}.ext"
            extensions.write_text(more + "\n", encoding="ascii")
            self.openssl("req", *self._new(name, ".csr"), "-subj", subject)
            self.openssl("x509", "-req", "-in", self.folder / f"{name}.csr", "-CA", self.ca, "-CAkey", self.folder / "ca.key", "-days", "2",
                         "-CAcreateserial", "-extfile", extensions, "-out", self.folder / f"{name}.pem")

    def _new(self, name, ending=".pem"):
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", self.folder / f"{name}.key",
                "-out", self.folder / (name + ending))

    @staticmethod
    def openssl(*arguments, **more):
        return subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60, **more).stdout

    @property
    def tls(self):
        """A section of a server, which asks its clients for a certificate, too."""
        return (f'tls {{ cert_file: "{self.folder}/server.pem", key_file: "{self.folder}/server.key", ca_file: "{self.ca}", verify: true }}\n')

    @property
    def options(self):
        return f"ca={self.ca}&cert={self.folder}/client.pem&key={self.folder}/client.key"


class Keys:
    """A key of NATS: Ed25519, written as 'nk' does; and what it signs, as 'nsc' does."""

    KINDS = {"operator": 14 << 3, "account": 0, "user": 20 << 3}  # first letters O, A, U
    SEED = 18 << 3  # S

    def __init__(self, folder, kind, name):
        self.kind, self.name, self.pem = kind, name, pathlib.Path(folder) / f"{name}.ed25519"
        Certificates.openssl("genpkey", "-algorithm", "ed25519", "-out", self.pem)
        self.secret = Certificates.openssl("pkey", "-in", self.pem, "-outform", "DER")[-32:]
        public = Certificates.openssl("pkey", "-in", self.pem, "-pubout", "-outform", "DER")[-32:]
        prefix = self.KINDS[kind]
        self.public = self._encode(bytes([prefix]) + public)
        self.seed = self._encode(bytes([self.SEED | prefix >> 5, (prefix & 31) << 3]) + self.secret)

    @staticmethod
    def _encode(raw):
        return base64.b32encode(raw + binascii.crc_hqx(raw, 0).to_bytes(2, "little")).decode().rstrip("=")

    def sign(self, of, **claims):
        """A token that says what `of` may do."""
        def part(content):
            return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=")
        body = part({"typ": "JWT", "alg": "ed25519-nkey"}) + b"." + part(
            {"jti": of.public, "iat": int(time.time()), "iss": self.public, "name": of.name, "sub": of.public,
             "nats": {"type": of.kind, "version": 2, **claims}})
        text = self.pem.with_suffix(".text")
        text.write_bytes(body)
        signature = Certificates.openssl("pkeyutl", "-sign", "-inkey", self.pem, "-rawin", "-in", text)
        return (body + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()


class Credentials:
    """An operator, an account with JetStream, a user of it: `more` is a server's, `creds` the user's file."""

    def __init__(self, folder):
        operator, account, user = (Keys(folder, kind, kind) for kind in Keys.KINDS)
        system = Keys(folder, "account", "system")
        every = dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf", "mem_storage", "disk_storage", "streams",
                               "consumer", "mem_max_stream_bytes", "disk_max_stream_bytes"), -1)
        limits = {**every, "wildcards": True}
        self.more = (f"operator: {operator.sign(operator)}\nsystem_account: {system.public}\nresolver: MEMORY\nresolver_preload: "
                     f"{{ {account.public}: {operator.sign(account, limits=limits)}\n {system.public}: {operator.sign(system)} }}\n")
        self.creds = pathlib.Path(folder) / "user.creds"
        self.creds.write_text(f"-----BEGIN NATS USER JWT-----\n{account.sign(user, subs=-1, data=-1, payload=-1)}\n------END NATS USER JWT------\n\n"
                              f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n", encoding="ascii")


class Nats:
    """`count` servers; one is enough for a stream of one replica, a cluster of three has `url` + "?replicas=3". `more` stands in each
    configuration; `mqtt`: each has a gateway at mqtt_ports[i]. `machines`: for each its address and the context in which it is started
    and asked, where they are not all on loopback. `folder`: there each has a folder of its number."""

    def __init__(self, count=1, more="", mqtt=False, machines=None, folder=None):
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="tether-nats-"))
        self.folder.mkdir(exist_ok=True)
        self.ports = free_ports(4 * count)
        self.mqtt_ports = self.ports[3 * count:]
        self.count = count
        self.machines = machines or [("127.0.0.1", contextlib.nullcontext)] * count
        self.processes = [None] * count
        routes = ", ".join(f'"nats://{self.address(i, 2)}"' for i in range(count))
        for i in range(count):
            cluster = f"cluster {{ name: c, listen: \"{self.address(i, 2)}\", routes: [{routes}] }}\n" if count > 1 else ""
            (self.folder / f"{i}.conf").write_text(
                f"listen: \"{self.address(i)}\"\nserver_name: n{i}\nhttp: \"{self.address(i, 1)}\"\n"
                f"jetstream {{ store_dir: \"{self.folder}/{i}\", max_file_store: 1500M }}\n{cluster}{more}"
                + (f"mqtt {{ listen: \"{self.machines[i][0]}:{self.mqtt_ports[i]}\" }}\n" if mqtt else ""), encoding="utf-8")
        for i in range(count):
            self.start(i)
        for i in range(count):
            self.wait_ready(i)
        if count > 1:
            wait_until(lambda: self.about(0).get("meta_cluster", {}).get("leader"), "the cluster has a leader", 60)
        self.url = "nats://" + ",".join(self.address(i) for i in range(count))

    def address(self, i, which=0):
        """Of a server: 0 where clients connect, 1 where its monitor answers, 2 where the others do."""
        return f"{self.machines[i][0]}:{self.ports[3 * i + which]}"

    def start(self, i=0):
        log = open(self.folder / f"{i}.log", "a", encoding="utf-8")
        with log, self.machines[i][1]():
            self.processes[i] = subprocess.Popen(["nats-server", "-c", self.folder / f"{i}.conf"], stderr=log)

    def wait_ready(self, i=0):
        def is_ready():
            assert self.processes[i].poll() is None, (self.folder / f"{i}.log").read_text(encoding="utf-8")
            try:
                return self.ask("healthz", i)["status"] == "ok"
            except (OSError, urllib.error.URLError):
                return False
        wait_until(is_ready, "nats-server is ready", 60)

    def ask(self, path, i=0):
        """What its monitor answers."""
        with self.machines[i][1](), urllib.request.urlopen(f"http://{self.address(i, 1)}/{path}", timeout=3) as answer:
            return json.load(answer)

    def about(self, i=0):
        """What a server says of JetStream."""
        return self.ask("jsz?consumers=true", i)

    def stream(self, name="tether", i=0):
        """(what it has, {name: consumer}), as NATS says both."""
        for account in self.about(i).get("account_details", []):
            for each in account.get("stream_detail", []):
                if each["name"] == name:
                    return each["state"], {consumer["name"]: consumer for consumer in each.get("consumer_detail", [])}
        return None, {}

    def waiting(self, name="store", stream="tether", i=0):
        """Messages that a consumer has not done."""
        consumer = self.stream(stream, i)[1].get(name)
        return consumer and consumer["num_pending"] + consumer["num_ack_pending"]

    def leader(self, stream="tether"):
        """The server that leads a stream; None: there is none now."""
        for i in range(self.count):
            with contextlib.suppress(OSError):
                for account in self.about(i).get("account_details", []):
                    for each in account.get("stream_detail", []):
                        if each["name"] == stream and each.get("cluster", {}).get("leader"):
                            return int(each["cluster"]["leader"][1:])
        return None

    def kill(self, i=0):
        self.stop(i, signal.SIGKILL)

    def stop(self, i=0, number=signal.SIGTERM):
        self.processes[i].send_signal(number)
        self.processes[i].wait(60)

    def close(self):
        for i, process in enumerate(self.processes):
            if process.poll() is None:
                self.stop(i)
        shutil.rmtree(self.folder, ignore_errors=True)


class Client:
    """A device that speaks NATS itself, over a bare socket."""

    def __init__(self, log, i=0, **user):
        self.socket = socket.create_connection(("127.0.0.1", log.ports[3 * i]), timeout=30)
        self.file = self.socket.makefile("rb")
        self.file.readline()  # INFO
        self.inbox = f"_INBOX.{os.getpid()}.{id(self)}"
        about = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, "lang": "python", "version": "1"}
        if user:
            about.update(user=user["user"], **{"pass": user["password"]})
        self.send(f"CONNECT {json.dumps(about)}\r\nSUB {self.inbox}.* 1\r\n".encode())
        self.asked = 0
        self.flush()

    def send(self, data):
        self.socket.sendall(data)

    def flush(self):
        """What was sent has come there."""
        self.send(b"PING\r\n")
        while True:
            line = self.file.readline()
            if line.startswith(b"PONG"):
                return
            if not line or line.startswith(b"-ERR"):
                raise OSError(line)

    def publish(self, subject, data, reply=""):
        subject, data = (text.encode() if isinstance(text, str) else text for text in (subject, data))
        self.send(b"PUB %s %s %d\r\n%s\r\n" % (subject, reply.encode(), len(data), data))

    def request(self, subject, data):
        """The answer; None: nobody is there."""
        self.asked += 1
        reply = f"{self.inbox}.{self.asked}"
        self.publish(subject, data, reply)
        while True:
            parts = self.file.readline().split()
            if not parts or parts[0] == b"-ERR":
                raise OSError(parts)
            if parts[0] == b"PING":
                self.send(b"PONG\r\n")
            if parts[0] not in (b"MSG", b"HMSG"):
                continue
            content = self.file.read(int(parts[-1]) + 2)[:-2]
            if parts[1] == reply.encode():
                return content if parts[0] == b"MSG" else None

    def close(self):
        self.file.close()
        self.socket.close()


class Writer(Pages):
    """`tether store`; with --listen among the options, with its pages."""

    def __init__(self, log, store, *options, **environment):
        self.process = subprocess.Popen([TETHER, "store", "--log", log, "--store", store, *options], stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, **environment})
        self.log = []
        while not (self.log and self.log[-1].startswith("ready ")):  # it may say before that a server is away
            self.log.append(self.process.stderr.readline())
            if not self.log[-1]:
                self.process.stderr.close()
                self.process.wait(30)
                raise RuntimeError("the writer did not start: " + "".join(self.log))
        self.web = (re.findall(r" web=(\S+)", self.log[-1]) or [None])[0]
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line)

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(30)
        self.reader.join(5)
        self.process.stderr.close()
        return status

    def kill(self):
        self.stop(signal.SIGKILL)

    def close(self):
        assert self.stop() == 0, "".join(self.log)
