#!/usr/bin/env python3
"""What it costs to count a program's system calls: nanoseconds a call natively, under
`sonictrace -S -L -c`, under `strace -f -c`, and with bpftrace counting at the raw tracepoint.

Each number is the median of the rounds, which are interleaved. Whatever is not installed or not
permitted is left out. The counts are checked in every round.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

CALLS = 200_000
TRACEPOINT = "tracepoint:raw_syscalls:sys_enter /comm == \"bench_syscalls\"/ { @[args->id] = count(); }"
GETPPID = 110  # of x86-64


def commands(options, out):
    program = [os.path.join(options.programs, "bench_syscalls"), str(CALLS)]
    lines = {
        "native": program,
        "sonictrace": [options.sonictrace, "--quiet", "-S", "-L", "-c", "-o", out] + program,
    }
    if shutil.which("strace"):
        lines["strace"] = ["strace", "-f", "-c", "-o", out] + program
    if shutil.which("bpftrace"):
        lines["bpftrace"] = ["bpftrace", "-o", out, "-e", TRACEPOINT, "-c", " ".join(program)]
    return lines


def measure(name, argv, out):
    """Nanoseconds a call, or in words what went wrong."""
    allowed = sorted(os.sched_getaffinity(0))[:1]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                          preexec_fn=lambda: os.sched_setaffinity(0, allowed))
    took = re.search(r"^(\d+\.\d)$", done.stdout, re.M)
    if not took:
        return f"fails: {(done.stderr.strip().splitlines() or ['?'])[-1]}"
    if name != "native":
        with open(out, encoding="utf-8", errors="replace") as table:
            text = table.read()
        counted = f"@[{GETPPID}]: {CALLS}" in text if name == "bpftrace" else \
            re.search(rf"\b{CALLS} +getppid$", text, re.M)
        if not counted:
            return "miscounts"
    return float(took[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sonictrace", required=True, help="the program to measure")
    parser.add_argument("--programs", required=True, help="where bench_syscalls is")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-most", type=float, metavar="RATIO",
                        help="fail when sonictrace / strace is above this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sonictrace-bench-") as directory:
        out = os.path.join(directory, "table")
        lines = commands(options, out)
        if options.at_most and "strace" not in lines:
            print("strace is not installed: nothing to compare with")
            return 77
        results = {name: [] for name in lines}
        for _ in range(options.rounds):
            for name, argv in lines.items():
                results[name].append(measure(name, argv, out))
    medians, status = {}, 0
    for name, values in results.items():
        numbers = [v for v in values if isinstance(v, float)]
        if numbers:
            medians[name] = statistics.median(numbers)
            print(f"{name:>12} {medians[name]:>10,.0f} ns a call")
        for wrong in sorted({v for v in values if isinstance(v, str)}):
            print(f"{name:>12} {wrong}")
            status |= name == "sonictrace"
    if "strace" in medians and "sonictrace" in medians:
        ratio = medians["sonictrace"] / medians["strace"]
        print(f"sonictrace / strace {ratio:.2f}")
        if options.at_most and ratio > options.at_most:
            print(f"more than {options.at_most} times strace's cost")
            status = 1
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
