"""A real clickhouse-server in a folder of its own, on loopback and free ports."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from support.nats import free_ports
from support.telemetry import wait_until

SKIPPED = 77  # exit status of a test that could not run

CONFIG = """<yandex>
  <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
  <listen_host>{address}</listen_host>
  <http_port>{http}</http_port>
  <tcp_port>{tcp}</tcp_port>
  <interserver_http_host>{address}</interserver_http_host>
  <interserver_http_port>{interserver}</interserver_http_port>
  <path>{folder}/data/</path>
  <tmp_path>{folder}/tmp/</tmp_path>
  {more}
  <users_config>{folder}/users.xml</users_config>
  <mark_cache_size>67108864</mark_cache_size>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <timezone>Asia/Kathmandu</timezone>
</yandex>
"""

# A test writes and reads little at a time: few threads begin at once, and leave the machine to the others.
USERS = """<yandex>
  <profiles><default><max_threads>2</max_threads><background_pool_size>4</background_pool_size></default><reader><readonly>1</readonly></reader></profiles>
  <users><default><password></password><networks><ip>::/0</ip></networks><profile>default</profile>
    <quota>default</quota></default>{more}</users>
  <quotas><default></default></quotas>
</yandex>
"""


def is_installed():
    """Debian 12 has a server, Debian 13 has none."""
    return shutil.which("clickhouse-server", path=os.environ["PATH"] + ":/usr/sbin") is not None


class ClickHouse:
    """One server, which is there once this returns; what it keeps stands in `folder` (None: one that goes with it). It has
    the same address each time it is started. `machine`: another address than 127.0.0.1, and the context in which it is
    started and asked. `certificates`: it listens for TLS, too. `users`: more of them, {name: XML}."""

    def __init__(self, folder=None, machine=None, certificates=None, users=None):
        self.address, self.inside = machine or ("127.0.0.1", contextlib.nullcontext)
        self.own = tempfile.mkdtemp(prefix="tether-clickhouse-") if folder is None else None
        self.folder = pathlib.Path(folder or self.own)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port, self.native, interserver, self.tls_port = free_ports(4)
        self.process, self.changed = None, 0
        (self.folder / "config.xml").write_text(
            CONFIG.format(folder=self.folder, address=self.address, http=self.port, tcp=self.native, interserver=interserver,
                          more=self._tls(certificates) if certificates else ""), encoding="utf-8")
        self.set_users(users or {})
        self.url = f"clickhouse://{self.address}:{self.port}/tether"
        self.start()

    def _tls(self, certificates):
        folder = certificates.folder
        return (f"<https_port>{self.tls_port}</https_port><openSSL><server><certificateFile>{folder}/server.pem</certificateFile>"
                f"<privateKeyFile>{folder}/server.key</privateKeyFile><verificationMode>none</verificationMode></server></openSSL>")

    def set_users(self, users):
        """It reads them again within seconds."""
        more = "".join(f"<{name}><networks><ip>::/0</ip></networks><quota>default</quota>{text}</{name}>" for name, text in users.items())
        path = self.folder / "users.xml"
        self.changed = max(self.changed + 2, time.time())  # it goes by whole seconds
        path.write_text(USERS.format(more=more), encoding="utf-8")
        os.utime(path, (self.changed, self.changed))

    def url_with(self, *others):
        """Of both, as shards."""
        servers = [self, *others]
        return (f"clickhouse://{','.join(f'{each.address}:{each.port}' for each in servers)}/tether"
                f"?native={','.join(str(each.native) for each in servers)}")

    def start(self):
        environment = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"}
        with self.inside(), open(f"{self.folder}.output", "a", encoding="utf-8") as output:
            self.process = subprocess.Popen(["clickhouse-server", f"--config-file={self.folder}/config.xml"],
                                            cwd=self.folder, stdout=output, stderr=output, env=environment,
                                            restore_signals=False)  # too large a file is an error, not its end

        def is_ready():
            if self.process.poll() is not None:
                raise AssertionError("clickhouse-server ended: " + pathlib.Path(f"{self.folder}.output").read_text(encoding="utf-8")[-2000:])
            try:
                return self.query("SELECT 1") == "1"
            except OSError:
                return False
        wait_until(is_ready, "clickhouse-server is ready", 60)

    def query(self, sql):
        """What it answers, as text: columns between tabs, rows between line ends. urllib.error.HTTPError: it refuses."""
        request = urllib.request.Request(f"http://{self.address}:{self.port}/", data=sql.encode())
        try:
            with self.inside(), urllib.request.urlopen(request, timeout=30) as answer:
                return answer.read().decode().rstrip("\n")
        except urllib.error.HTTPError as refused:
            refused.msg += ": " + refused.read().decode(errors="replace")[:500]
            raise

    def kill(self):
        """As if the power of its machine were cut, but for what the machine had not written yet."""
        self._end(signal.SIGKILL)

    def stop(self):
        self._end(signal.SIGTERM)

    def _end(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(60)

    def close(self):
        self.kill()
        if self.own:
            shutil.rmtree(self.own, ignore_errors=True)
            pathlib.Path(f"{self.folder}.output").unlink(missing_ok=True)
