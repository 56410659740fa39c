#!/usr/bin/env python3
"""Reads every #include under src/ and checks the arrows of the architecture: who may know whom.

A room is a folder of src/. The table says which other rooms' headers each may include. Tests beside
the code may include any room, since they put worlds together; MuJoCo stays in its room for them too.
"""
import os
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(os.environ.get("TETHER_SOURCE_DIR", pathlib.Path(__file__).parents[1]))
SOURCE = ROOT / "src"

# Room -> what it may include besides its own headers: rooms, or single headers.
ALLOWED = {
    "app": {"config", "control", "core", "net", "physics", "record", "robot", "store", "telemetry", "web", "wire"},
    "config": {"core", "net/net.h", "physics", "robot/robot.h", "wire/wire.h"},
    "control": {"config/schema.h", "core", "net", "wire"},
    "core": {"physics", "robot/robot.h", "wire/wire.h"},
    "net": {"core"},
    "physics": {"core"},
    "record": {"config/schema.h", "core"},
    "robot": {"config/schema.h", "core", "physics"},
    "store": {"core"},
    "telemetry": {"config/schema.h", "core", "net", "store"},
    "web": {"config/schema.h", "control", "core", "net", "record", "store", "telemetry", "wire/wire.h"},
    "wire": {"config/schema.h", "core", "net"},
}
# Rooms that answer with an error when memory runs out.
OUTLIVES_MEMORY = {"config", "core", "net", "physics", "record", "robot", "store", "wire"}
MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
# Everything for people is printed by these: core makes it safe, app draws one line of a terminal again and again.
PRINTERS = {"core/text.c", "core/log.c", "app/status_line.c", "app/progress.c"}
PRINTS = re.compile(r'\b(?:v?printf|perror|putchar)\(|\bputs\((?!\s*")|\bv?fprintf\(\s*std|\bf?put[sc]\((?!\s*")[^;]*\bstd(?:out|err)\)'
                    r"|\bwrite\(STD(?:OUT|ERR)_FILENO")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def sources():
    return sorted(path for path in SOURCE.rglob("*") if path.suffix in (".c", ".h"))


def is_test(path):
    return path.stem.endswith(("_test", "_fuzz")) or path.stem.startswith("conformance")


def includes(path):
    """Yields (written with quotes, the header's name, line) of every include of a file."""
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        yield match[1] == '"', match[2], text.count("\n", 0, match.start(2)) + 1


def adapter(parts):
    """The adapter's folder of a path below src/, or None: ("wire", "float_udp", "codec.c") -> float_udp."""
    return parts[1] if len(parts) > 2 and parts[0] == "wire" else None


def complaint(parts, test, quoted, header):
    """What is wrong with one include of the file src/<parts>, or None."""
    room = parts[0]
    if header.startswith("mujoco"):
        return None if room == "physics" else "only src/physics includes MuJoCo"
    if header.startswith(("glib", "gio")) and room in OUTLIVES_MEMORY and not test:
        return f"src/{room} must outlive memory that runs out; GLib ends the program"
    if not quoted:
        return None
    target = tuple(header.split("/"))
    if len(target) < 2 or target[0] not in ALLOWED:
        return None if (SOURCE.joinpath(*parts).parent / header).is_file() or target[0] in ("web_app.h", "web_resources.h") \
            else f"{header} is in no room: write the path from src/"
    if not (SOURCE / header).is_file():
        return f"src/{header} does not exist"
    if adapter(parts) and adapter(target) and adapter(parts) != adapter(target):
        return f"adapter {adapter(parts)} knows adapter {adapter(target)}"
    if test or target[0] == room or target[0] in ALLOWED[room] or header in ALLOWED[room]:
        return None
    return f"src/{room} must not know src/{target[0]}"


class Architecture(unittest.TestCase):
    def test_every_room_is_known(self):
        rooms = {path.relative_to(SOURCE).parts[0] for path in sources()}
        self.assertTrue(rooms)
        self.assertEqual(rooms - set(ALLOWED), set(), "say in ALLOWED what this room may know")

    def test_arrows_point_inward(self):
        wrong = []
        for path in sources():
            parts = path.relative_to(SOURCE).parts
            for quoted, header, line in includes(path):
                text = complaint(parts, is_test(path), quoted, header)
                if text:
                    wrong.append(f"{path.relative_to(ROOT)}:{line}: {text}")
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_every_room_says_what_it_is_for(self):
        for path in SOURCE.rglob("CMakeLists.txt"):
            room = path.parent.relative_to(SOURCE).as_posix()
            if room == ".":
                continue
            self.assertRegex(path.read_text(encoding="utf-8"), rf"\A# {room}: .+\n# May not know: .+\.\n", room)
            self.assertIn(f"`src/{room.split('/', 1)[0]}", MAP, "docs/architecture.md has no such room")
        self.assertEqual([room for room in ALLOWED if not (SOURCE / room / "CMakeLists.txt").exists()], [])

    def test_the_map_names_what_there_is(self):
        for name in re.findall(r"`((?:src|tests|web|core|docs)/[\w./]+)`", MAP):
            self.assertTrue((ROOT / name).exists() or (SOURCE / name).exists(), name)
        for name, path in re.findall(r"`(\w+)\(\)`(?:\s+(?:in|\()\s*`([\w./]+)`)?", MAP):
            files = [ROOT / path] if path else [file for file in sources() if file.suffix == ".c"]
            defined = re.compile(rf"^(?:\w.*[ *]|){name}\(", re.MULTILINE)
            self.assertTrue(any(defined.search(file.read_text(encoding="utf-8")) for file in files), f"{name}() in {path or 'src'}")

    def test_what_people_read_is_printed_in_one_place(self):
        wrong = []
        for path in sources():
            name = path.relative_to(SOURCE).as_posix()
            if name in PRINTERS or is_test(path):
                continue
            code = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), path.read_text(encoding="utf-8"), flags=re.DOTALL)
            code = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', code)
            wrong += [f"src/{name}:{code.count(chr(10), 0, match.start()) + 1}: {match[0]}" for match in PRINTS.finditer(code)]
        self.assertEqual(wrong, [], "print with tt_print() or tt_log(), which make it safe:\n" + "\n".join(wrong))

    def test_the_check_finds_what_is_wrong(self):
        cases = [
            (("core", "world.c"), False, "mujoco/mujoco.h", True),
            (("core", "world.c"), True, "net/net.h", True),
            (("core", "world.c"), True, "physics/physics.h", False),
            (("physics", "physics.c"), False, "mujoco/mujoco.h", False),
            (("wire", "x", "x.c"), True, "physics/physics.h", True),
            (("wire", "x", "x.c"), True, "wire/wire.h", False),
            (("record", "log.c"), True, "physics/physics.h", True),
            (("wire", "x", "x.c"), True, "no_such_header.h", True),
            (("store", "store.c"), False, "glib.h", True),
            (("web", "web.c"), False, "glib.h", False),
        ]
        for parts, quoted, header, wrong in cases:
            self.assertEqual(complaint(parts, False, quoted, header) is not None, wrong, (parts, header))
        self.assertEqual(adapter(("wire", "x", "x.c")), "x")
        self.assertIsNone(adapter(("wire", "wire.h")))


if __name__ == "__main__":
    sys.exit(unittest.main())
