#!/usr/bin/env python3
"""The conformance suite of stores on a real nats-server: the arguments are the test programs."""
import os
import subprocess
import sys

from support.nats import Nats

nats = Nats(more="max_payload: 4MB\n")  # others may publish what is longer than our own
try:
    environment = {**os.environ, "TETHER_TEST_NATS": nats.url}
    sys.exit(any([subprocess.run([program], env=environment, check=False).returncode for program in sys.argv[1:]]))
finally:
    nats.close()
