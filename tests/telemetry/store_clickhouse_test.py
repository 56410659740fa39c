#!/usr/bin/env python3
"""Tests of stores with ClickHouse, two real servers of it: the arguments are the test programs. What they ask for by a socket, a byte
each, is done to the first server, and answered by the same byte: (c)ut it off by kill -9, let it be (b)ack, (f)ill its disk, (e)mpty
it, (k)ill it and start it again some times, beginning now; that this is (d)one is said."""
import os
import random
import resource
import socket
import subprocess
import sys
import threading
import time

from support.clickhouse import SKIPPED, ClickHouse, is_installed

DISK = 16 << 10  # bytes of a file of the server's
KILLS = 60 if os.environ.get("TETHER_LONG") else 6


def limit(server, full):
    most = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (DISK if full else most, most))


def kill_some(server, control):
    dice = random.Random(18)
    for _ in range(KILLS):
        time.sleep(dice.random() * 0.3)
        server.kill()
        server.start()
    control.sendall(b"d")


def serve(control, server):
    while wish := control.recv(1):
        if wish == b"c":
            server.kill()
        elif wish == b"b":
            server.start()
        elif wish in b"fe":
            limit(server, wish == b"f")
        elif wish == b"k":
            threading.Thread(target=kill_some, args=(server, control)).start()
        control.sendall(wish)


def run(program, server, other):
    ours, its = socket.socketpair()
    with ours, its:
        environment = {**os.environ, "TETHER_TEST_CLICKHOUSE": server.url, "TETHER_TEST_CLICKHOUSE_OTHER": other.url,
                       "TETHER_TEST_CLICKHOUSE_BOTH": server.url_with(other), "TETHER_TEST_CLICKHOUSE_CONTROL": str(its.fileno())}
        threading.Thread(target=serve, args=(ours, server), daemon=True).start()
        status = subprocess.run([program], env=environment, pass_fds=[its.fileno()], check=False).returncode
        ours.shutdown(socket.SHUT_RDWR)
        return status


if not is_installed():
    print("skipped: no clickhouse-server")
    sys.exit(SKIPPED)
servers = [ClickHouse(), ClickHouse()]
try:
    sys.exit(any([run(program, *servers) for program in sys.argv[1:]]))
finally:
    for each in servers:
        each.close()
