#!/usr/bin/env python3
"""The architecture as docs/architecture.md tells it. What a room may know is kept by the compiler and the linker: each is
a target that sees the headers of what it links (cmake/Rooms.cmake), and rooms_test links each alone. Here: that the links
only lead down, that the library's rooms need no sockets and no GLib, and that the map is true.
"""
import os
import pathlib
import re
import sys
import unittest

from support import circles, headers

ROOT = pathlib.Path(os.environ.get("TETHER_SOURCE_DIR", pathlib.Path(__file__).parents[1]))
SOURCE = ROOT / "src"
MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# Everything for people is printed by these: core makes it safe, app draws one line of a terminal again and again.
PRINTERS = {"base/text.c", "base/log.c", "app/status_line.c", "app/progress.c"}
PRINTS = re.compile(r'\b(?:v?printf|perror|putchar)\(|\bputs\((?!\s*")|\bv?fprintf\(\s*std|\bf?put[sc]\((?!\s*")[^;]*\bstd(?:out|err)\)'
                    r"|\bwrite\(STD(?:OUT|ERR)_FILENO")
# Rooms of the library: whoever embeds a simulation has these, and nothing that they don't need.
LIBRARY = ["base", "game", "model", "engine/mujoco", "robot", "sim", "scene", "record", "library"]
NOT_IN_LIBRARY = {"PkgConfig::UV", "PkgConfig::SOUP", "PkgConfig::PQ", "PkgConfig::SQLITE", "PkgConfig::EXPAT"}

# What ends by a member of its own, by GLib's references, by the C library, or with what it is made for.
ENDED_OTHERWISE = {
    "tt_store_open", "tt_testing_open", "tt_live_source_new", "tt_fed_source_new", "tt_shown_source_new",
    "tt_web_input_new", "tt_file_open", "tt_postgres_ids_new", "tt_schemas_new", "tt_sharp_link_open",
    "tt_run_id_new",  # makes a text
    "tt_telemetry_live_open",  # opens nothing: it is told that a WebSocket did
}


def rooms():
    """Every room in the order in which they are built, with what it links."""
    text = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
    names = re.search(r"foreach\(room ([^)]*)\)", text)[1].split()
    wires = re.search(r"set\(TETHER_WIRES ([\w ]*)\)", (SOURCE / "wire/CMakeLists.txt").read_text(encoding="utf-8"))[1]
    backends = re.search(r"set\(backends ([\w ]*)\)", (SOURCE / "store/CMakeLists.txt").read_text(encoding="utf-8"))[1]
    within = {"wire": wires.split(), "store": ["column", "spool", *backends.split()]}
    found = {}
    for name in [room for name in names for room in (name, *(f"{name}/{each}" for each in within.get(name, [])))]:
        text = (SOURCE / name / "CMakeLists.txt").read_text(encoding="utf-8")
        found[name] = re.search(rf"tether_room\({name}\s+LINKS ([^\n]*)\n", text)[1].split()
    return found


def target(room):
    return "tether_" + re.sub(r"\W", "_", room)


def sources():
    return sorted(path for path in SOURCE.rglob("*") if path.suffix in (".c", ".h"))


def is_test(path):
    return path.stem.endswith(("_test", "_fuzz")) or path.stem.startswith("conformance")


class Architecture(unittest.TestCase):
    def test_links_lead_down(self):
        known = {"tether_stores"}  # the registry of backends, behind the last of them
        for room, links in rooms().items():
            below = {link for link in links if link.startswith("tether_")}
            self.assertEqual(below - known, set(), f"src/{room} links what does not stand below it")
            adapters = {link for link in below if link.startswith("tether_wire_")}
            self.assertEqual(adapters, set(), f"src/{room} links a protocol")
            known.add(target(room))

    def test_nobody_knows_which_backend_it_is(self):
        """Outside of its folder and of the registry nobody names a backend of the store, nor a header of one."""
        named = re.compile(r"\btt_(?:none|sqlite|postgres|clickhouse)_backend\b|\"store/(?:none|sqlite|postgres|clickhouse)/")
        found = [path.relative_to(SOURCE).as_posix() for path in sources() if named.search(path.read_text(encoding="utf-8"))]
        self.assertEqual([path for path in found if not re.match(r"store/(?:none|sqlite|postgres|clickhouse)/", path)], [])

    def test_nobody_names_a_database(self):
        """Nor does any text of the program outside the folders of backends, but the help of `tether collect`. Sweeps and trials
        have files and databases of their own."""
        texts = re.compile(r'"(?:[^"\\\n]|\\.)*\b(?:sqlite|postgres|clickhouse)(?:[^"\\\n]|\\.)*"', re.IGNORECASE)
        comments = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)
        others = re.compile(r"(?:store/(?:sqlite|postgres|clickhouse)|sweep|app/sweep|database)/|app/(?:commands/sweep|attach/page_data)\.c")
        found = set()
        for path in sources():
            name = path.relative_to(SOURCE).as_posix()
            text = "\n".join(line for line in comments.sub("", path.read_text(encoding="utf-8")).splitlines() if "#include" not in line)
            if not is_test(path) and not others.match(name) and texts.search(text):
                found.add(name)
        self.assertEqual(found - {"store/store_testing.c"}, {"app/commands/collect.c"})

    def test_every_folder_is_a_room(self):
        folders = {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("CMakeLists.txt")}
        self.assertEqual(folders - {".", "app"}, set(rooms()))

    def test_the_library_needs_no_sockets(self):
        links = rooms()
        own = {target(room) for room in LIBRARY}
        for room in LIBRARY:
            self.assertEqual(set(links[room]) & NOT_IN_LIBRARY, set(), room)
            self.assertEqual({link for link in links[room] if link.startswith("tether_")} - own, set(), room)

    def test_glib_ends_only_what_it_may(self):
        """GLib ends the program when memory runs out; everybody else answers with an error."""
        found = {room for room, links in rooms().items() if "PkgConfig::SOUP" in links}
        self.assertEqual(found, {"store/clickhouse", "telemetry", "web", "websocket"})

    @unittest.skipUnless("TETHER" in os.environ, "looks at what was built beside $TETHER")
    def test_no_circles_of_files(self):
        graph = circles.uses(pathlib.Path(os.environ["TETHER"]).parent, SOURCE)
        self.assertGreater(len(graph), 200, "nearly nothing was built")
        self.assertEqual(circles.circles(graph), [], "these files need each other; move what all need below them. "
                                                     "python3 tests/support/circles.py says who uses whom")

    def test_one_room_includes_mujoco(self):
        found = {path.relative_to(SOURCE).parts[:2] for path in sources()
                 if any(match[2].startswith("mujoco/") for match in INCLUDE.finditer(path.read_text(encoding="utf-8")))}
        self.assertEqual(found, {("engine", "mujoco")})

    def test_every_room_says_what_it_is_for(self):
        for path in SOURCE.rglob("CMakeLists.txt"):
            room = path.parent.relative_to(SOURCE).as_posix()
            if room == ".":
                continue
            self.assertRegex(path.read_text(encoding="utf-8"), rf"\A# {room}: .+\n# May not know: .+\.\n", room)
            self.assertIn(f"`src/{room.split('/', 1)[0]}", MAP, "docs/architecture.md has no such room")

    def test_the_map_names_what_there_is(self):
        for name in re.findall(r"`((?:src|tests|web|core|docs)/[\w./]+)`", MAP):
            self.assertTrue((ROOT / name).exists() or (SOURCE / name).exists(), name)
        for name, path in re.findall(r"`(\w+)\(\)`(?:\s+(?:in|\()\s*`([\w./]+)`)?", MAP):
            files = [ROOT / path] if path else [file for file in sources()]
            defined = re.compile(rf"^(?:\w.*[ *]|){name}\(", re.MULTILINE)
            self.assertTrue(any(defined.search(file.read_text(encoding="utf-8")) for file in files), f"{name}() in {path or 'src'}")

    def test_seeds_have_names_and_finds_stand_apart(self):
        found = re.compile(r"[0-9a-f]{40}")
        targets = set()
        for path in SOURCE.rglob("CMakeLists.txt"):
            for name, stem, seeds in re.findall(r"tether_fuzz\((\w+) ([\w/]+)_fuzz\.c ([^\s)]+)", path.read_text(encoding="utf-8")):
                targets.add(name)
                self.assertEqual(seeds, f"{stem}_seeds", path)
                names = [seed.name for seed in (path.parent / seeds).iterdir()]
                self.assertGreater(len(names), 0, name)
                self.assertEqual([seed for seed in names if found.fullmatch(seed)], [],
                                 f"name these seeds of {name} after what they show, or move them to fuzz/corpora/{name}")
        for folder in (ROOT / "fuzz" / "corpora").iterdir():
            self.assertIn(folder.name, targets, "is no fuzz target")
            self.assertEqual([one.name for one in folder.iterdir() if not found.fullmatch(one.name)], [],
                             "what a fuzzer found is named by its hash; seeds stand beside the code")

    def test_headers_say_what_they_declare(self):
        wrong, count = [], 0
        for path in [*SOURCE.rglob("*.h"), *(ROOT / "include").rglob("*.h")]:
            for line, declaration, said in headers.declarations(path.read_text(encoding="utf-8")):
                count += 1
                if not said:
                    wrong.append(f"{path.relative_to(ROOT)}:{line}: {declaration}")
        self.assertGreater(count, 1000)
        self.assertEqual(wrong, [], "say what it is: thread, owner, unit, errors, as docs/conventions.md asks:\n" + "\n".join(wrong))

    def test_names_stand_behind_their_types(self):
        """The formatter tears a declaration in two whose comment is too long: the comment belongs above it."""
        torn = re.compile(r"^( *)[A-Za-z_][\w ]*(?:\*+|=)?\n\1 {4}\S[^;,\n]*[;,] /\*", re.MULTILINE)
        wrong = [f"{path.relative_to(ROOT)}: {found[0]}" for path in [*sources(), *(ROOT / "include").rglob("*.h")]
                 for found in torn.finditer(path.read_text(encoding="utf-8"))]
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_what_is_declared_is_there(self):
        defined = set(re.findall(r"^[\w *]*?\b(tt_\w+)(?=\([^;{}]*\) *\{)", "\n".join(
            path.read_text(encoding="utf-8") for path in SOURCE.rglob("*") if path.suffix in (".c", ".h", ".in")), re.MULTILINE))
        declared = {}
        for path in SOURCE.rglob("*.h"):
            text = path.read_text(encoding="utf-8")
            types = set(re.findall(r"^ *typedef [^;{(]*?\b(tt_\w+)\(", text, re.MULTILINE))
            declared |= {name: path for name in headers.functions(text) if name not in types}
        self.assertGreater(len(declared), 1000)
        self.assertEqual([f"{name}() in {path.relative_to(ROOT)}" for name, path in declared.items() if name not in defined], [])

    def test_every_thread_is_told_of(self):
        """A file that starts threads stands in the page's section, or its folder does, or what is shared by two."""
        section = MAP.split("\n## Threads\n")[1].split("\n## ")[0]
        by_role = {"base/log.c": "log writer", "record/recorder.c": "recorder", "host/watcher.c": "host/watcher.h", "library/batch.c": "a batch's",
                   "app/forks.c": "forks", "app/program.c": "a program's watcher", "app/attach/verifier.c": "verifier", "app/sweep/show.c": "shows"}
        starts = re.compile(r"\b(?:pthread_create|g_thread_(?:try_)?new)\(")
        found = [path for path in sources() if not is_test(path) and starts.search(path.read_text(encoding="utf-8"))]
        self.assertGreater(len(found), 15)
        for path in found:
            name = path.relative_to(SOURCE).as_posix()
            told = [by_role[name]] if name in by_role else [f"`src/{name}`", f"`src/{name.split('/')[0]}`"]
            self.assertTrue(any(one in section for one in told), f"src/{name} starts a thread that docs/architecture.md doesn't know")

    def test_heads_name_their_own_file(self):
        head = re.compile(r'/\*+ (\w+\.[ch])\b')
        named = {path: found[1] for path in sources() if (found := head.match(path.read_text(encoding="utf-8")))}
        self.assertGreater(len(named), 500)
        self.assertEqual([f"{path.relative_to(ROOT)} calls itself {name}" for path, name in named.items() if name != path.name], [])

    def test_what_is_made_is_ended(self):
        declared = {name: path for path in SOURCE.rglob("*.h") for name in headers.functions(path.read_text(encoding="utf-8"))}
        wrong = []
        for name, path in declared.items():
            thing = re.sub("_(new|open)$", "", name)
            if thing != name and name not in ENDED_OTHERWISE and not {f"{thing}_{end}" for end in ("free", "close", "unref")} & declared.keys():
                wrong.append(f"{name}() in {path.relative_to(ROOT)}")
        self.assertEqual(wrong, [], "what _new() or _open() makes ends by _free() or _close()")

    def test_the_error_comes_last(self):
        wrong = []
        for path in SOURCE.rglob("*.h"):
            for name, arguments in headers.functions(path.read_text(encoding="utf-8")).items():
                arguments = re.sub(r", const char \*\w+, \.\.\.$", "", arguments)  # as printf takes them
                if "tt_error *error" in arguments and not arguments.endswith("tt_error *error") and name != "tt_fail":
                    wrong.append(f"{name}() in {path.relative_to(ROOT)}")
        self.assertEqual(wrong, [])

    @unittest.skipUnless("TETHER" in os.environ, "looks at what was built beside $TETHER")
    def test_names_that_others_see_begin_with_ours(self):
        build = pathlib.Path(os.environ["TETHER"]).parent
        wrong = {f"{symbol} in src/{name}" for symbol, name in circles.defined(build, SOURCE)
                 if not re.match(r"(tt|tether|physics|compiler|library|nt4|foxglove|sweep)_|main$|__", symbol)  # __: the compiler's own
                 and not is_test(SOURCE / name)}
        self.assertEqual(wrong, set())

    def test_one_file_a_command(self):
        folder = SOURCE / "app" / "commands"
        commands = re.findall(r"^  X\((\w+)\)", (folder / "command.h").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual({path.stem for path in folder.glob("*.c")}, set(commands))
        for name in commands:
            self.assertIn(f"const tt_app_command tt_app_{name} = ", (folder / f"{name}.c").read_text(encoding="utf-8"))

    def test_no_page_imports_another(self):
        """What pages share stands beside their folders; only the frame around them knows the pages."""
        web = ROOT / "web" / "src"
        frame = {"app.tsx", "main.tsx", "pages/others.ts"}
        imports = re.compile(r"\b(?:from|import)\s*\(?\s*'(\.[^']*)'")
        wrong, count = [], 0
        for path in sorted(file for file in web.rglob("*") if file.suffix in (".ts", ".tsx")):
            name = path.relative_to(web)
            for imported in imports.findall(path.read_text(encoding="utf-8")):
                count += 1
                to = pathlib.Path(os.path.normpath(name.parent / imported))
                if to.parts[0] == "pages" and to.parts[:2] != name.parts[:2] and name.as_posix() not in frame:
                    wrong.append(f"web/src/{name} imports {to}")
        self.assertGreater(count, 200)
        self.assertEqual(wrong, [], "move what both need to web/src/ui, or where it belongs outside of pages")

    def test_waits_go_by_the_monotonic_clock(self):
        """A wall clock that is set back makes a wait until one of its moments as long as the step; tt_wait_until() has none."""
        for path in sources():
            self.assertNotRegex(path.read_text(encoding="utf-8"), r"\b(?:pthread_cond_timedwait|pthread_mutex_timedlock|sem_timedwait)\(", path)

    def test_locks_are_seen_by_the_thread_sanitizer(self):
        """GLib's wait in the kernel directly."""
        for path in sources():
            self.assertNotRegex(path.read_text(encoding="utf-8"), r"\bg_(?:rec_)?(?:mutex|cond|rw_lock)_\w+\(|\bG(?:Mutex|Cond|RWLock|RecMutex)\b", path)

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


if __name__ == "__main__":
    sys.exit(unittest.main())
