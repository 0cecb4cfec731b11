#!/usr/bin/env python3
"""Is `sonicreport diff` right? Traces a small program many times, and compares runs of it with others of it.

Builds a program several times, once as it is and then with one of its functions ten per cent slower, and
traces all of them as often, taking turns. Then, again and again, it draws runs at random and has them compared:
- runs of the same program against each other: all that is found is a false alarm;
- runs of the one against runs of another: the slower function is to be found, and nothing else.
For comparison, on the same runs, the rule "one run against one, 30 % more time in a function".

Of `frames` (examples/compare_two_runs) all functions are alike; how diff takes the time of a function was chosen
with it. Of `kernels` (kernels.c) no two are.
"""
import argparse
import csv
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TIMED = re.compile(r"^\S+ ([^(]+)\(.*<(\d+\.\d+)>$")
# Source, beginning of the names of functions, and the versions: which function is slower, and by which option. The
# first one decides the exit status.
PROGRAMS = {
    "frames": (HERE.parents[1] / "examples/compare_two_runs/frames.c", "frame_", {"frame_blend": "-DSLOWER=10"}),
    "kernels": (HERE / "kernels.c", "kernel_",
                {f"kernel_{name}": f"-DSLOW_{name}=10" for name in ("checksum", "sort", "rare")}),
}

MOST_NOISE = 0.08  # of runs of the same, for ten per cent to be found without fail


def build(work, program, version, option):
    directory = work / version
    directory.mkdir(exist_ok=True)
    source = PROGRAMS[program][0]
    cc = ["cc", "-O2", *option]
    subprocess.run([*cc, "-DLIBRARY", "-shared", "-fPIC", f"-Wl,-soname,lib{program}.so", "-o",
                    directory / f"lib{program}.so", source], check=True)
    subprocess.run([*cc, "-o", directory / program, source, f"-L{directory}", f"-l{program}",
                    "-Wl,-rpath,$ORIGIN"], check=True)
    return directory / program


def trace(options, work):
    versions = {"same": [], **{name: [option] for name, option in PROGRAMS[options.program][2].items()}}
    programs = {version: build(work, options.program, version, option) for version, option in versions.items()}
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


def noise_of(options, logs, function):
    """By what runs of one program differ in this function, as diff sees it."""
    kept = json.loads(subprocess.run([options.sonicreport, "fingerprint", *logs], check=True,
                                     capture_output=True, text=True).stdout)
    return next(one["noise"] for one in kept["functions"] if one["name"] == function)


def sums(log, prefix):
    total = {}
    for line in log.read_text().splitlines():
        if match := TIMED.match(line):
            total[match[1]] = total.get(match[1], 0) + float(match[2])
    return {name: total[name] for name in total if name.startswith(prefix)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sonictrace", required=True)
    parser.add_argument("--sonicreport", required=True)
    parser.add_argument("--work", type=pathlib.Path, help="logs are kept here, and used again; else nowhere")
    parser.add_argument("--program", choices=PROGRAMS, default="frames")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-most", type=int, default=0, metavar="N", help="false alarms that are no failure")
    options = parser.parse_args()
    passing = tempfile.TemporaryDirectory(prefix="diff-statistics-")
    work = (options.work or pathlib.Path(passing.name)) / options.program
    work.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    logs = trace(options, work)
    slower_ones = list(PROGRAMS[options.program][2])
    draw = random.Random(options.seed)
    print(f"{options.program}: {options.runs} runs of each version, {options.draws} draws, {os.cpu_count()} cores, "
          f"load {load:.1f} before and {os.getloadavg()[0]:.1f} after the runs")
    print("{:34} {:>12}".format("rule", "false alarms") +
          "".join(f"{f'{name} +10 %':>22}" for name in slower_ones) + f"{'others found':>14}")

    def show(rule, old_and_new, find):
        alarms = sum(bool(find(*old_and_new("same"))) for _ in range(options.draws))
        hits, others = [], 0
        for slower in slower_ones:
            all_found = [find(*old_and_new(slower)) for _ in range(options.draws)]
            hits.append(sum(slower in one for one in all_found))
            others += sum(bool(one - {slower}) for one in all_found)
        print(f"{rule:34} {alarms:12}" + "".join(f"{one:22}" for one in hits) + f"{others:14}", flush=True)
        return alarms, hits[0]

    def seven(version):
        if version == "same":
            fourteen = draw.sample(logs["same"], 14)
            return fourteen[:7], fourteen[7:]
        return draw.sample(logs["same"], 7), draw.sample(logs[version], 7)

    worst = {measure: show(f"diff, 7 v 7, --time {measure}", seven,
                           lambda old, new, by=measure: found(options, old, new, by))
             for measure in ("typical", "sum")}
    total = {log: sums(log, PROGRAMS[options.program][1]) for all_logs in logs.values() for log in all_logs}

    def one(version):
        return draw.sample(logs["same"], 2) if version == "same" else (draw.choice(logs["same"]),
                                                                      draw.choice(logs[version]))

    for percent in (30, 10, 5):
        show(f"one run v one, sum > {percent} %", one, lambda old, new, by=percent: {
            f for f in total[old] if total[new][f] > total[old][f] * (1 + by / 100)})
    alarms, hits = worst["typical"]
    noise = noise_of(options, logs["same"], slower_ones[0])
    print(f"95 of 100 pairs of runs of the same differ by at most {100 * noise:.1f} % in {slower_ones[0]}")
    if alarms > options.at_most:
        return 1
    if hits >= 0.9 * options.draws:
        return 0
    if noise <= MOST_NOISE:
        return 1
    print(f": Skipped\nthe machine is too busy for 10 % to stand out: found in {hits} of {options.draws} draws, "
          f"with {alarms} false alarms")
    return 77


if __name__ == "__main__":
    sys.exit(main())
