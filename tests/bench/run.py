#!/usr/bin/env python3
"""What a traced call costs: nanoseconds a call natively, under sonictrace and under ltrace.

On one core (tracer and tracee share it) and on two, with one thread and with eight. Each number is
the median of the rounds; the rounds of the programs compared are interleaved, so that a machine
that gets slower does so for all. `floor` is two of the kernel's own stops, with the least that a
tracer of breakpoints can do at each: what no such tracer that stops twice a call can go below.
"""
import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

TIME_LIMIT = 120  # seconds for one run; ltrace can hang on threads
CALLS = {"native": 20_000_000, "sonictrace": 20_000, "ltrace": 10_000, "floor": 20_000}
COLUMNS = ("native", "floor", "sonictrace", "ltrace")


def command(what, options, threads, log):
    calls = str(CALLS[what])
    program = [os.path.join(options.programs, "bench_call"), calls, str(threads)]
    return {
        "native": program,
        "floor": [os.path.join(options.programs, "bench_stop"), calls],
        "sonictrace": [options.sonictrace, "--quiet", "-e", "bench_empty", "-o", log] + program,
        "ltrace": [options.ltrace, "-f", "-e", "bench_empty", "-o", log] + program,
    }[what]


def measure(what, options, cores, threads, log):
    """Nanoseconds a call, or in words what went wrong."""
    argv = command(what, options, threads, log)
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=TIME_LIMIT,
                              stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: os.sched_setaffinity(0, allowed))
    except subprocess.TimeoutExpired:
        return "hangs"
    try:
        took = float(done.stdout)
    except ValueError:
        return f"fails: {last_line(done.stderr) or f'status {done.returncode}'}"
    if what in ("sonictrace", "ltrace"):
        with open(log, encoding="utf-8", errors="replace") as lines:
            seen = sum("bench_empty(" in line for line in lines)
        wanted = CALLS[what] // threads * threads
        if seen != wanted:
            return f"miscounts: {seen} calls in the log, of {wanted}"
    return 2 * took if what == "floor" else took  # two stops make a call


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def median(results):
    numbers = [r for r in results if isinstance(r, float)]
    return statistics.median(numbers) if numbers else None


def complaints(column, results):
    """What went wrong in some rounds, one line each kind."""
    wrong = [r for r in results if isinstance(r, str)]
    for kind in sorted({w.split(":")[0] for w in wrong}):
        alike = [w for w in wrong if w.startswith(kind)]
        yield f"{column} in {len(alike)} of {len(results)} rounds: {alike[0]}"


def table_row(options, cores, threads, log):
    """One line of the table: the results of all rounds for each column."""
    # bench_stop has one thread.
    columns = [c for c in COLUMNS if c != "floor" or threads == 1]
    columns = [c for c in columns if c != "ltrace" or options.ltrace]
    results = {c: [] for c in columns}
    for _ in range(options.rounds):
        for column in columns:
            if results[column] and results[column][-1] == "hangs":
                continue  # once is enough
            results[column].append(measure(column, options, cores, threads, log))
    return results


def show(value):
    if value is None:
        return "-"
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def machine():
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((l.split(":")[1].strip() for l in info if l.startswith("model name")), "")
    return f"{model}, {len(os.sched_getaffinity(0))} cores, Linux {platform.release()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sonictrace", required=True, help="the program to measure")
    parser.add_argument("--programs", required=True, help="where bench_call and bench_stop are")
    parser.add_argument("--ltrace", default=shutil.which("ltrace"))
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-least", type=float, metavar="RATIO",
                        help="fail when ltrace / sonictrace is below this anywhere")
    options = parser.parse_args()
    if options.at_least and not options.ltrace:
        print("ltrace is not installed: nothing to compare with")
        return 77

    print(f"{machine()}; ns a call, medians of {options.rounds} rounds")
    print("cores  threads" + "".join(f"{c:>12}" for c in COLUMNS) + "  ltrace/sonictrace")
    available = len(os.sched_getaffinity(0))
    status = 0
    with tempfile.TemporaryDirectory(prefix="sonictrace-bench-") as directory:
        log = os.path.join(directory, "log")
        for cores in (c for c in options.cores if c <= available):
            for threads in options.threads:
                results = table_row(options, cores, threads, log)
                row = {column: median(results.get(column, [])) for column in COLUMNS}
                ours, theirs = row["sonictrace"], row["ltrace"]
                ratio = theirs / ours if ours and theirs else None
                print(f"{cores:>5}  {threads:>7}"
                      + "".join(f"{show(row[c]):>12}" for c in COLUMNS)
                      + (f"  {ratio:.1f}" if ratio else "  -"), flush=True)
                for column, values in results.items():
                    for line in complaints(column, values):
                        print(f"       {line}")
                if any(isinstance(r, str) for r in results["sonictrace"]):
                    status = 1
                if options.at_least and ratio and ratio < options.at_least:
                    print(f"       less than {options.at_least} times cheaper than ltrace")
                    status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
