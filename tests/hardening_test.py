#!/usr/bin/env python3
"""Reads the built program with readelf: is it hardened as its build flags promise?"""
import os
import subprocess
import sys
import unittest

TETHER = os.environ["TETHER"]


def readelf(*options):
    return subprocess.run(["readelf", "--wide", *options, TETHER], check=True, capture_output=True,
                          text=True, env={**os.environ, "LC_ALL": "C"}).stdout


class Hardening(unittest.TestCase):
    def test_position_independent(self):
        self.assertRegex(readelf("--file-header"), r"Type:\s+DYN")
        self.assertRegex(readelf("--dynamic"), r"FLAGS_1\).*\bPIE\b")

    def test_relocations_are_read_only_and_bound_at_start(self):
        self.assertIn("GNU_RELRO", readelf("--segments"))
        self.assertRegex(readelf("--dynamic"), r"FLAGS_1\).*\bNOW\b")

    def test_stack_is_not_executable(self):
        self.assertRegex(readelf("--segments"), r"GNU_STACK .* RW +0x")

    def test_no_segment_is_writable_and_executable(self):
        self.assertNotRegex(readelf("--segments"), r"LOAD .* RWE +0x")

    def test_stack_protector_and_fortified_calls(self):
        symbols = readelf("--dyn-syms")
        self.assertIn("__stack_chk_fail", symbols)
        self.assertRegex(symbols, r"__(snprintf|vsnprintf|memcpy|read|fprintf)_chk")


if __name__ == "__main__":
    sys.exit(unittest.main())
