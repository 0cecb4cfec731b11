#!/usr/bin/env python3
"""Is `sonicreport diff` right? Traces a small program many times, and compares runs of it with others of it.

Builds examples/compare_two_runs twice, once with one of nine steps ten per cent slower, and traces both as
often, taking turns. Then, again and again, it draws runs at random and has them compared:
- runs of the same program against each other: all that is found is a false alarm;
- runs of the one against runs of the other: the slower step is to be found, and nothing else.
For comparison, on the same runs, the rule "one run against one, 30 % more time in a function".
"""
import argparse
import csv
import io
import os
import pathlib
import random
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "examples/compare_two_runs/frames.c"
TIMED = re.compile(r"^\S+ ([^(]+)\(.*<(\d+\.\d+)>$")


def build(work, version, slower):
    directory = work / version
    directory.mkdir(exist_ok=True)
    cc = ["cc", "-O2", f"-DSLOWER={slower}"]
    subprocess.run([*cc, "-DLIBRARY", "-shared", "-fPIC", "-Wl,-soname,libframes.so", "-o",
                    directory / "libframes.so", SOURCE], check=True)
    subprocess.run([*cc, "-o", directory / "frames", SOURCE, f"-L{directory}", "-lframes",
                    "-Wl,-rpath,$ORIGIN"], check=True)
    return directory / "frames"


def trace(options, work):
    programs = {"same": build(work, "same", 0), "slower": build(work, "slower", 10)}
    logs = {version: [work / f"{version}-{i:02}.log" for i in range(options.runs)] for version in programs}
    for i in range(options.runs):
        for version in sorted(programs, reverse=i % 2 == 1):
            log = logs[version][i]
            if not log.exists():
                subprocess.run([options.sonictrace, "-T", "-tt", "-o", log, programs[version]], check=True,
                               stdout=subprocess.DEVNULL)
    return logs


def found(options, old, new, measure):
    """The functions that diff calls slower or faster."""
    out = subprocess.run([options.sonicreport, "diff", "--format", "csv", "--time", measure, "--old", *old,
                          "--new", *new], check=True, capture_output=True, text=True).stdout
    return {row["function"] for row in csv.DictReader(io.StringIO(out))
            if row["kind"] == "function" and row["time_trend"] in ("more", "less")}


def sums(log):
    total = {}
    for line in log.read_text().splitlines():
        if match := TIMED.match(line):
            total[match[1]] = total.get(match[1], 0) + float(match[2])
    return {name: total[name] for name in total if name.startswith("frame_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sonictrace", required=True)
    parser.add_argument("--sonicreport", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path, help="logs are kept here, and used again")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    logs = trace(options, options.work)
    draw = random.Random(options.seed)
    print(f"{options.runs} runs of each version, {options.draws} draws, {os.cpu_count()} cores, load {load:.1f} "
          f"before and {os.getloadavg()[0]:.1f} after the runs")
    print(f"{'rule':34} {'false alarms':>12} {'+10 % found':>11} {'others found':>12}")
    worst = {}
    for measure in ("typical", "sum"):
        alarms = hits = others = 0
        for _ in range(options.draws):
            fourteen = draw.sample(logs["same"], 14)
            alarms += bool(found(options, fourteen[:7], fourteen[7:], measure))
            names = found(options, draw.sample(logs["same"], 7), draw.sample(logs["slower"], 7), measure)
            hits += "frame_blend" in names
            others += bool(names - {"frame_blend"})
        worst[measure] = alarms, hits
        print(f"{'diff, 7 v 7, --time ' + measure:34} {alarms:12} {hits:11} {others:12}")
    total = {log: sums(log) for both in logs.values() for log in both}
    for percent in (30, 10, 5):
        slower = lambda old, new: {f for f in total[old] if total[new][f] > total[old][f] * (1 + percent / 100)}
        alarms = hits = others = 0
        for _ in range(options.draws):
            alarms += bool(slower(*draw.sample(logs["same"], 2)))
            names = slower(draw.choice(logs["same"]), draw.choice(logs["slower"]))
            hits += "frame_blend" in names
            others += bool(names - {"frame_blend"})
        print(f"{f'one run v one, sum > {percent} %':34} {alarms:12} {hits:11} {others:12}")
    alarms, hits = worst["typical"]
    return 0 if alarms == 0 and hits >= 0.9 * options.draws else 1


if __name__ == "__main__":
    sys.exit(main())
