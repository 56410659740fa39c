"""Circles of files: which file of src/ uses what another one defines, as the linker sees it in a build."""
import json
import os
import pathlib
import re
import subprocess

SYMBOL = re.compile(r"^(.*): (\S+) (\S)(?: |$)", re.MULTILINE)
DEFINED = set("TDBRC")


def objects(build, source):
    """The object of every file of the rooms, by the file's name below src/ without its ending."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        output = re.search(r" -o (\S+)", entry["command"])[1]
        path, made = pathlib.Path(entry["file"]), pathlib.Path(entry["directory"], output)
        if source in path.parents and re.search(r"/tether_\w+\.dir/", output) and made.exists():
            found[path.relative_to(source).with_suffix("").as_posix()] = made
    return found


def symbols(build, source):
    """(symbol, kind, file) of every symbol that a file defines or uses."""
    files = objects(build, source)
    names = {str(made): name for name, made in files.items()}
    listing = subprocess.run(["nm", "-A", "-P", *names], capture_output=True, text=True, check=True).stdout
    return [(symbol, kind, names[made]) for made, symbol, kind in SYMBOL.findall(listing)]


def defined(build, source):
    """(symbol, file) of what each file shows to others."""
    return [(symbol, name) for symbol, kind, name in symbols(build, source) if kind in DEFINED]


def uses(build, source):
    """For each file, the files whose symbols it uses."""
    all_of_them = symbols(build, source)
    home = {symbol: name for symbol, kind, name in all_of_them if kind in DEFINED}
    graph = {name: set() for _, _, name in all_of_them}
    for symbol, kind, name in all_of_them:
        if kind == "U" and home.get(symbol, name) != name:
            graph[name].add(home[symbol])
    return graph


def circles(graph):
    """Sets of files each of which needs all others, directly or through some (Tarjan's components)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


if __name__ == "__main__":
    ROOT = pathlib.Path(__file__).resolve().parents[2]
    GRAPH = uses(pathlib.Path(os.environ.get("BUILD", ROOT / "build")), ROOT / "src")
    for circle in circles(GRAPH):
        print(*circle)
        for one in circle:
            print("   ", one, "->", *sorted(GRAPH[one] & set(circle)))
