#!/usr/bin/env python3
"""Tests of stores and tables once more, with PostgreSQL: the arguments are the test programs. They may reach it over TCP, too."""
import contextlib
import os
import socket
import subprocess
import sys
import threading

from support.telemetry import Postgres



def pump(source, target):
    """What the target does not take is not read, so the source notices."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def serve(listener, path):
    while True:
        near, _ = listener.accept()
        far = socket.socket(socket.AF_UNIX)
        far.connect(path)
        for ends in ((near, far), (far, near)):
            threading.Thread(target=pump, args=ends, daemon=True).start()


postgres = Postgres()
try:
    near = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(near, f"{postgres.folder}/.s.PGSQL.5432"), daemon=True).start()
    path = f"{postgres.binaries}:{os.environ['PATH']}"
    environment = {**os.environ, "TETHER_TEST_POSTGRES": postgres.url,
                   "TETHER_TEST_POSTGRES_TCP": f"postgresql://tether@127.0.0.1:{near.getsockname()[1]}/postgres", "PATH": path}
    sys.exit(any([subprocess.run([program], env=environment, check=False).returncode for program in sys.argv[1:]]))
finally:
    postgres.close()
