#!/usr/bin/env python3
"""Some eighty megabytes of records for brokers that are not there: one line of error within the limit, every record
counted, and no more memory than what may wait.

  dead_broker_test.py SONICREPORT
"""
import os
import subprocess
import sys
import time

import logs
from components import Servers, free_port

sonicreport = sys.argv[1]
LIMIT = 3  # s

with Servers() as servers:
    path = servers.path("host0.log")
    logs.write_log(path, 0)
    common = ["--interval", "3ms", "--run-id", "r", "--host", "h", *[path] * 8]
    begin = time.monotonic()
    written = servers.path("records")
    subprocess.run([sonicreport, "export", "--to", "jsonl", "--output", written, *common], check=True)
    reading = time.monotonic() - begin
    with open(written, "rb") as file:
        made = sum(1 for _ in file)
    size = os.path.getsize(written)
    assert size > 4 * (16 << 20), size  # many times what may wait

    begin = time.monotonic()
    process = subprocess.Popen([sonicreport, "export", "--to", f"kafka://127.0.0.1:{free_port()}/calls", "--timeout",
                                f"{LIMIT}s", *common], stderr=subprocess.PIPE, text=True)
    first = process.stderr.readline()
    told_after = time.monotonic() - begin
    rest = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - begin
    assert process.returncode == 4, (process.returncode, first, rest)
    assert "no record was taken for 3" in first and "Connection refused" in first, first
    assert rest.count("\n") == 1 and f"0 records delivered, {made:,} dropped" in rest, rest
    assert LIMIT <= told_after < LIMIT + 2 + 2 * reading, (told_after, reading)
    assert took < LIMIT + 2 + 4 * reading, (took, reading)
    assert usage.ru_maxrss < 96 << 10, usage.ru_maxrss
    print(f"{made:,} records, {size >> 20} MiB: told after {told_after:.1f} s, ended after {took:.1f} s, "
          f"{usage.ru_maxrss >> 10} MiB of memory at most")
