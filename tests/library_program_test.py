#!/usr/bin/env python3
"""The sample of docs/library.md, compiled against what `cmake --install` puts into a folder: C and C++, pkg-config and CMake."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["TETHER"]).parent
ROOT = pathlib.Path(os.environ["TETHER_SOURCE_DIR"])
SAMPLE = ROOT / "clients/c/library.c"
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=100, check=False, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.top = pathlib.Path(folder.name)
        cls.prefix = cls.top / "installed"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.library = next(cls.prefix.glob("lib/**/libtether.so"))
        cls.pkgconfig = cls.library.parent / "pkgconfig"

    def flags(self, *what):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.pkgconfig)}
        return run("pkg-config", f"--define-variable=prefix={self.prefix}", *what, "tether", env=environment).split()

    def check(self, program):
        answer = run(program, cwd="/", env={"LD_LIBRARY_PATH": str(self.library.parent), "PATH": os.environ["PATH"]})
        match = re.fullmatch(r"after 1\.667 s: ([\d.]+) degrees\n", answer)
        self.assertTrue(match, answer)
        self.assertAlmostEqual(float(match[1]), 95.49, delta=5)  # 1 rad/s for 1.667 s

    def test_c(self):
        run("cc", "-std=c17", *STRICT, SAMPLE, "-o", self.top / "c", *self.flags("--cflags", "--libs"))
        self.check(self.top / "c")

    def test_cxx(self):
        run("c++", "-std=c++17", *STRICT, "-x", "c++", SAMPLE, "-o", self.top / "cxx", *self.flags("--cflags", "--libs"))
        self.check(self.top / "cxx")

    def test_cmake(self):
        source = self.top / "project"
        source.mkdir()
        (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(sample C)\nfind_package(tether REQUIRED)\n"
                                               f"add_executable(sample {SAMPLE})\ntarget_link_libraries(sample tether::tether)\n")
        run("cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", source / "build")
        self.check(source / "build/sample")

    def test_one_soname_and_only_our_names(self):
        self.assertIn("SONAME               libtether.so.0\n", run("objdump", "-p", self.library))
        names = {line.split()[-1] for line in run("nm", "-D", "--defined-only", self.library).splitlines()}
        self.assertEqual({name for name in names if not name.startswith("tether_")}, set())
        header = (ROOT / "include/tether/tether.h").read_text(encoding="utf-8")
        declared = set(re.findall(r"^TETHER_API [^(;]*?\b(tether_\w+)\(", header, re.MULTILINE))
        self.assertEqual(names, declared)

    def test_the_library_does_nothing_behind_its_callers_back(self):
        """What ends a process or changes its surroundings is not even linked. Models are compiled by another program."""
        used = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--undefined-only", self.library).splitlines()}
        self.assertEqual(used & {"abort", "exit", "_exit", "quick_exit", "_Exit", "raise", "fork", "vfork", "system", "signal", "sigaction", "sigprocmask",
                                 "setlocale", "chdir", "fchdir", "setenv", "putenv", "unsetenv", "clearenv", "getenv",
                                 "secure_getenv", "socket", "printf", "__printf_chk", "vprintf", "__vprintf_chk", "puts", "putchar", "perror",
                                 "stdout", "setrlimit", "umask", "atexit", "on_exit"}, set())

    def test_the_manual_page_has_the_whole_header(self):
        page = (self.prefix / "share/man/man3/libtether.3").read_text(encoding="utf-8")
        header = (ROOT / "include/tether/tether.h").read_text(encoding="utf-8")
        body = header[header.index('extern "C"'):]
        self.assertIn(".TH LIBTETHER 3", page)
        for name in re.findall(r"\b(tether_\w+)\(", body) + re.findall(r"^} (tether_\w+);", body, re.MULTILINE):
            self.assertIn(name, page)
        for words in re.findall(r"/\*\*(.*?)\*/", body, re.DOTALL):
            for line in words.splitlines():
                text = line.strip(" *").replace("\\", "\\e").replace("-", "\\-")
                self.assertIn(text, page)
        for line in re.findall(r"/\* --- (.*?) --- \*/", body):
            self.assertIn(f".SH {line.upper()}", page)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-k", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_page_shows_the_sample(self):
        page = (ROOT / "docs/library.md").read_text(encoding="utf-8")
        self.assertIn(SAMPLE.read_text(encoding="utf-8"), page)
        for name in re.findall(r"`(tether_\w+)\(\)`", page):
            self.assertIn(f"{name}(", (ROOT / "include/tether/tether.h").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
