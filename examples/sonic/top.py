#!/usr/bin/python3
"""Adds up the time of each function in a log of `sonictrace -T -tt -o LOG` and prints the longest.

    top.py LOG [COUNT]

The time of a call includes that of the calls it makes.
"""
import collections
import re
import sys

CALL = re.compile(r"^[^ ]+\s+([^(]+)\(.*?<(\d+\.\d+)>$")

log, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
seconds = collections.Counter()
with open(log, encoding="utf-8", errors="replace") as lines:
    for line in lines:
        if call := CALL.match(line):
            seconds[call[1]] += float(call[2])
print(f"Top {count} functions by time:")
for name, total in seconds.most_common(count):
    print(f"{name}: {total:.4f}s")
