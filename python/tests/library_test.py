#!/usr/bin/env python3
"""Where the shared library is looked for, and what is said where it is not."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import built

USE = "import tether; print(tether.version(), tether._library._path)"


class Finding(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.package = self.top / "site"
        shutil.copytree(built.ROOT / "python/tether", self.package / "tether", ignore=shutil.ignore_patterns("__pycache__"))
        self.elsewhere = self.top / "lib" / "libtether.so.0"
        self.elsewhere.parent.mkdir()
        shutil.copy(built.LIBRARY, self.elsewhere)

    def run_python(self, script, **environment):
        kept = {name: value for name, value in os.environ.items() if name not in ("TETHER_LIBRARY", "LD_LIBRARY_PATH")}
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=self.top,
                              env={**kept, "PYTHONPATH": str(self.package), **environment})

    def finds(self, script, path, **environment):
        done = self.run_python(script, **environment)
        self.assertEqual((done.stderr, done.stdout), ("", f"0.1.0 {path}\n"))

    def refuses(self, script, *texts, **environment):
        done = self.run_python(script, **environment)
        self.assertEqual(done.returncode, 1)
        for text in texts:
            self.assertIn(text, done.stderr)

    def test_the_argument_first(self):
        beside = self.package / "tether/libtether.so.0"
        shutil.copy(built.LIBRARY, beside)
        self.finds(f"import tether; tether.load({str(self.elsewhere)!r}); " + USE, self.elsewhere, TETHER_LIBRARY="/nowhere")
        self.finds(f"import pathlib, tether; tether.Scene('gripper', library=pathlib.Path({str(self.elsewhere.parent)!r})); " + USE,
                   self.elsewhere, TETHER_DATA="", TETHER_LIBRARY=str(beside))

    def test_then_the_environment_then_beside_the_package_then_the_system(self):
        self.finds(USE, "libtether.so.0", LD_LIBRARY_PATH=str(self.elsewhere.parent))
        beside = self.package / "tether/libtether.so.0"
        shutil.copy(built.LIBRARY, beside)
        self.finds(USE, beside, LD_LIBRARY_PATH=str(self.elsewhere.parent))
        self.finds(USE, self.elsewhere, TETHER_LIBRARY=str(self.elsewhere))
        self.finds(USE, self.elsewhere, TETHER_LIBRARY=str(self.elsewhere.parent))

    def test_what_is_not_found_says_where_it_was_looked_for(self):
        self.refuses(USE, f"{self.package}/tether/libtether.so.0 (beside the package): ", "libtether.so.0 (the system's libraries): ",
                     "Install Tether's package", "TETHER_LIBRARY=/path/to/libtether.so.0", "tether.load(")
        self.refuses(USE, "/nowhere/x.so ($TETHER_LIBRARY): ", TETHER_LIBRARY="/nowhere/x.so")
        self.refuses("import tether; tether.Scene('gripper', library='/nowhere')", "/nowhere (the argument `library`): ",
                     TETHER_LIBRARY=str(self.elsewhere))
        (self.package / "tether/libtether.so.0").write_text("not a library")
        self.refuses(USE, "(beside the package): ", "file too short")

    def test_a_stranger_is_not_taken(self):
        self.refuses(USE, "has no tether_version()", "install both from one release", TETHER_LIBRARY="libc.so.6")

    def test_a_process_has_one(self):
        self.refuses(f"import tether; tether.load({str(self.elsewhere)!r}); tether.load('/lib/other.so')", "/lib/other.so: ", "is loaded already",
                     "LibraryError")
        self.finds(f"import tether; tether.load({str(self.elsewhere)!r}); tether.load({str(self.elsewhere.parent)!r}); " + USE, self.elsewhere)

    def test_importing_loads_nothing(self):
        done = self.run_python("import tether; print(issubclass(tether.LibraryError, ImportError))", TETHER_LIBRARY="/nowhere")
        self.assertEqual((done.stderr, done.stdout), ("", "True\n"))

    def test_the_compiler_of_models(self):
        use = "import tether; tether.set_compiler({!r}); tether.Scene('gripper').sim().step()"
        compiler = next(built.BUILD.rglob("compile-model"))
        self.assertEqual(self.run_python(use.format(str(compiler)), TETHER_LIBRARY=str(built.LIBRARY)).stderr, "")
        self.refuses(use.format("/nowhere/compile-model"), "tether._errors.", "/nowhere/compile-model", TETHER_LIBRARY=str(built.LIBRARY))
        self.refuses(use.format("compile-model"), "not an absolute path", TETHER_LIBRARY=str(built.LIBRARY))

    def test_data_and_warnings(self):
        """Scenes of a folder of one's own; what the library warns of goes to logging."""
        scenes = self.top / "data/scenes"
        scenes.mkdir(parents=True)
        (scenes / "mine.yaml").write_text("description: my own\narena: frc2011\ntimestep: 1/3000 s\n")
        done = self.run_python("import tether; tether.set_data('data'); print(tether.Scene('mine').description)", TETHER_LIBRARY=str(built.LIBRARY))
        self.assertEqual((done.stderr, done.stdout), ("", "my own\n"))
        done = self.run_python("import logging, tether; logging.basicConfig(format='%(name)s %(levelname)s %(message)s'); tether.load(); "
                               "tether._library._ON_LOG(None, 1, b'one \\xc3\\xa4'); tether._library._ON_LOG(None, 2, b'two')",
                               TETHER_LIBRARY=str(built.LIBRARY))
        self.assertEqual(done.stderr, "tether WARNING one ä\n")


if __name__ == "__main__":
    unittest.main()
