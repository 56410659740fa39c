"""script/bench: measures, prints one table (what, ours, limit, ratio, goal), and compares two such runs.

usage: bench.py [NAME…] [--json FILE] [--list]
       bench.py --compare OLD.json NEW.json
"""
import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import time

from measure import ROOT, Row, progress
import fleet
import halsim
import library
import lockstep
import memory
import pages
import realtime
import recording
import scale
import stepping
import sweep
import telemetry
import web
import wpilib

BENCHES = {"lockstep": lockstep.lockstep, "worlds": lockstep.worlds, "library": library.library, "python": library.python,
           "gym": library.gym,
           "free": stepping.free, "robots": stepping.robots, "start": stepping.start, "sims": memory.sims,
           "realtime": realtime.realtime, "recording": recording.recording, "sweep": sweep.sweeps, "scale": scale.scale,
           "telemetry": telemetry.telemetry, "fleet": fleet.fleet,
           "web": web.web, "pages": pages.pages, "halsim": halsim.halsim, "wpilib": wpilib.wpilib}


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    return {"cpu": model[1] if model else platform.machine(), "cores": os.cpu_count(), "kernel": platform.release(),
            "load": os.getloadavg()[0]}


def commit():
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def number(value):
    if value is None:
        return ""
    if value >= 10000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 100 else f"{value:.3g}"


def mark(row):
    return {None: "", True: "met", False: "MISSED"}[row.met()]


def goal(row):
    if row.goal is None:
        return ""
    return ("≤ " if row.less and row.ratio is None else "≥ ") + number(row.goal)


def print_table(rows):
    cells = [["what", "ours", "limit", "unit", "ratio", "goal", "", "remarks"]]
    cells += [[f"{row.name}: {row.what}", number(row.ours), number(row.limit), row.unit,
               "" if row.ratio is None else f"{row.ratio:.2f}", goal(row), mark(row), row.note] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    for line in cells:
        print("  ".join(text.rjust(width) if 1 <= i <= 5 and i != 3 else text.ljust(width)
                        for i, (text, width) in enumerate(zip(line, widths))).rstrip())


def measure(names):
    rows, failures = [], []
    for name in names:
        started = time.monotonic()
        try:
            rows += BENCHES[name]()
        except (RuntimeError, OSError, subprocess.SubprocessError, ValueError) as error:
            failures.append(f"{name}: {error}")
        progress("")
        print(f"{name} took {time.monotonic() - started:.0f} s", file=sys.stderr)
    return rows, failures


def read(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    return report, {row["name"]: Row(**row) for row in report["rows"]}


def compare(old_path, new_path):
    """Rows of both runs; a change for the worse by more than 10 % is marked. Ratios count where there are any."""
    (old_report, old), (new_report, new) = read(old_path), read(new_path)
    for label, report in (("old", old_report), ("new", new_report)):
        print(f"{label}: commit {report['commit']}, {report['when']}, {report['machine']['cpu']}")
    worse = 0
    for name in [name for name in new if name in old]:
        a, b = old[name], new[name]
        before, after, unit = (a.ours, b.ours, b.unit) if b.ratio is None or a.ratio is None else (a.ratio, b.ratio, "of limit")
        change = after / before - 1 if before else 0
        bad = (change if b.less and b.ratio is None else -change) > 0.1
        worse += bad
        print(f"{name:28} {number(before):>12} {number(after):>12} {unit:12} {change:+7.1%}{'  WORSE' if bad else ''}")
    for name in sorted(set(old) ^ set(new)):
        print(f"{name:28} only in the {'old' if name in old else 'new'} run")
    return 1 if worse else 0


def main():
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure: " + ", ".join(BENCHES))
    parser.add_argument("--json", metavar="FILE", help="writes the figures there too")
    parser.add_argument("--compare", nargs=2, metavar=("OLD.json", "NEW.json"), help="compares two runs; exit status 1 if worse")
    arguments = parser.parse_args()
    if arguments.compare:
        return compare(*arguments.compare)
    for name in arguments.names:
        if name not in BENCHES:
            parser.error(f"there is no bench '{name}'; there are {', '.join(BENCHES)}")
    report = {"commit": commit(), "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "machine": machine()}
    rows, failures = measure(arguments.names or BENCHES)
    print(f"commit {report['commit']}, {report['when']}, {report['machine']['cpu']}, {report['machine']['cores']} cores, "
          f"kernel {report['machine']['kernel']}, load {report['machine']['load']:.1f}")
    print_table(rows)
    if arguments.json:
        report["rows"] = [vars(row) for row in rows]
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1, ensure_ascii=False)
    for failure in failures:
        print(f"not measured: {failure}", file=sys.stderr)
    return 3 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
