#!/usr/bin/env python3
"""Tests of stores and tables once more, with PostgreSQL: the arguments are the test programs."""
import os
import subprocess
import sys

from support.telemetry import Postgres

postgres = Postgres()
try:
    path = f"{postgres.binaries}:{os.environ['PATH']}"
    environment = {**os.environ, "TETHER_TEST_POSTGRES": postgres.url, "PATH": path}
    sys.exit(any([subprocess.run([program], env=environment, check=False).returncode for program in sys.argv[1:]]))
finally:
    postgres.close()
