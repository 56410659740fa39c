#!/usr/bin/env python3
"""The store's tests once more, with PostgreSQL: argument 1 is the test program."""
import os
import subprocess
import sys

from harness import Postgres

postgres = Postgres()
try:
    path = f"{postgres.binaries}:{os.environ['PATH']}"
    sys.exit(subprocess.run([sys.argv[1]], env={**os.environ, "TETHER_TEST_POSTGRES": postgres.url, "PATH": path},
                            check=False).returncode)
finally:
    postgres.close()
