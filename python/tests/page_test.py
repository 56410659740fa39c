#!/usr/bin/env python3
"""Does what docs/python.md says: its Python blocks in order, as one program; its sh blocks in the same folder. A text block is what
the block before it prints, with … for anything."""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

import built

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pattern(text):
    return ".*".join(re.escape(piece) for piece in text.split("…"))


class Page(unittest.TestCase):
    def run_shell(self, text):
        text = text.replace("=build/", f"={built.BUILD}/").replace("=python ", f"={built.ROOT}/python ")
        programs = f'python3() {{ {sys.executable} "$@"; }}; tether() {{ {built.BUILD}/tether "$@"; }}\n'  # this Python has NumPy
        done = subprocess.run(["bash", "-euc", programs + text], capture_output=True, text=True, check=False,
                              env={**os.environ, "TETHER_LIBRARY": str(built.LIBRARY)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_every_line_is_true(self):
        page = (built.ROOT / "docs/python.md").read_text(encoding="utf-8")
        space, said = {"__name__": "page"}, ""
        blocks = BLOCK.findall(page)
        self.assertGreater(len(blocks), 10)
        for kind, text in blocks:
            if kind == "python":
                self.assertEqual(said, "", f"the page doesn't say what is printed before\n{text}")
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(compile(text, "docs/python.md", "exec"), space)
                said = out.getvalue()
            elif kind == "sh":
                said = self.run_shell(text)
            else:
                self.assertEqual(kind, "text")
                self.assertRegex(said, rf"(?s)\A{pattern(text)}\Z")
                said = ""
        self.assertEqual(said, "")

    def test_the_readmes_lines_run(self):
        readme = (built.ROOT / "README.md").read_text(encoding="utf-8")
        lines = re.findall("^(export PYTHONPATH=.*|python3 -c .*)$", readme, re.MULTILINE)
        self.assertEqual(self.run_shell("\n".join(lines)), "1.0 s\n(8, 10)\n")

    def test_the_page_names_what_there_is(self):
        import tether
        page = (built.ROOT / "docs/python.md").read_text(encoding="utf-8")
        for name in tether.__all__:
            if name.endswith("Error"):
                self.assertTrue(f"`{name}`" in page or f"`tether.{name}`" in page, name)
        for thing in tether.__all__:
            self.assertTrue(getattr(tether, thing).__doc__ or thing == "CONTACT", f"{thing} has no docstring")


if __name__ == "__main__":
    unittest.main()
