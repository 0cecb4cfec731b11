#!/usr/bin/env python3
"""How fast `sonicreport top` reads, beside other programs on the same log in the same minute.

  report_bench.py --sonicreport build/src/sonicreport [--megabytes 1000] [--split 50] [--names 1000000]

Prints MB/s and resident memory of each; the log is made in --directory and removed. With --check the
exit status is 1 where one core is slower than 0.3 of `grep -c malloc`, or 64 MiB are not enough.
"""
import argparse
import os
import random

import subprocess
import sys
import tempfile
import time


FUNCTIONS = [
    ("malloc", "1048576", "0x55aabbccdd00"),
    ("free", "0x55aabbccdd00", "<void>"),
    ("memcpy", "0x55aabbccdd00, 0x7f99eeff1230, 1048576", "0x55aabbccdd00"),
    ("strlen", '"an argument (of \\"some\\" length)"', "31"),
    ("pthread_mutex_lock", "0x55aa10203040, 0x7ffd10203040", "0"),
    ("pthread_mutex_unlock", "0x55aa10203040", "0"),
    ("at::native::upsample_bilinear2d", "0x7ffd11, { 1, 3, 256, 256 }", "0x7ffd11"),
    ("c10::TensorImpl::release_resources", "0x55aa11", "<void>"),
    ("av_frame_alloc", "", "0x55aaddee2200"),
    ("read", '3, "\\177ELF\\002\\001\\001\\003"..., 832', "832"),
    ("operator new", "72", "0x55aa20304050"),
    ("std::function<int (char)>::operator()", "0x7ffd22, 'a'", "1"),
]


def make_log(path, size, split, names):
    """`split`: percent of the calls that have two lines; `names`: distinct ones, 0 for those above."""
    choose = random.Random(1)
    now = 5 * 3600 * 1_000_000
    written = lines = 0
    with open(path, "w") as log:
        while written < size:
            block = []
            for _ in range(20000):
                if names:
                    n = choose.randrange(names)
                    name, arguments, result = "ns%d::function_%d" % (n % 100, n), "0x1, 2", "0x3"
                else:
                    name, arguments, result = FUNCTIONS[choose.randrange(len(FUNCTIONS))]
                spent = int(choose.expovariate(0.05))
                stamp = "%02d:%02d:%02d.%06d" % (now // 3600000000 % 24, now // 60000000 % 60,
                                                 now // 1000000 % 60, now % 1000000)
                if split and choose.randrange(100) < split:
                    block.append("4711 %s %s(%s <unfinished ...>\n" % (stamp, name, arguments))
                    block.append("4711 %s <... %s resumed> ) = %s <0.%06d>\n" % (stamp, name, result, spent))
                else:
                    call = "%s(%s) " % (name, arguments)
                    prefix = "4711 " + stamp if split else stamp
                    block.append("%s %-33s= %s <0.%06d>\n" % (prefix, call, result, spent))
                now += spent + 3
            text = "".join(block)
            log.write(text)
            written += len(text)
            lines += len(block)
    return lines

SCRIPT = r"""
import re, sys
from collections import defaultdict
pattern = re.compile(r"^[^ ]+\s+([^(]+)\(.*?<(\d+\.\d+)>$")
spent = defaultdict(float)
for line in open(sys.argv[1]):
    match = pattern.match(line.strip())
    if match:
        spent[match.group(1)] += float(match.group(2))
print("Top 10耗时函数:")
for name, total in sorted(spent.items(), key=lambda one: one[1], reverse=True)[:10]:
    print(f"{name}: {total:.4f}s")
"""

MAWK = r"""{ name = $2; sub(/\(.*/, "", name); t = $NF; n[name]++; s[name] += substr(t, 2, length(t) - 2) }
END { for (name in n) print s[name], n[name], name }"""


def run(command):
    """The best of three: seconds, seconds of processor time, MiB."""
    best = processor = None
    memory = 0
    for _ in range(3):
        begun = time.monotonic()
        # A pipe: grep ends at once where its output is /dev/null. By a shell: what this interpreter
        # itself needs would be counted as the memory of a child that it has forked.
        program = subprocess.Popen(["/bin/sh", "-c", 'exec "$@"', "sh"] + command, stdout=subprocess.PIPE)
        program.stdout.read()
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        spent = time.monotonic() - begun
        used = usage.ru_utime + usage.ru_stime
        processor = used if processor is None else min(processor, used)
        if program.returncode not in (0, 1):
            sys.exit("%s: exit status %s" % (command, program.returncode))
        memory = max(memory, usage.ru_maxrss / 1024)
        best = spent if best is None else min(best, spent)
    return best, processor, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sonicreport", required=True)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--split", type=int, default=0)
    parser.add_argument("--names", type=int, default=0)
    parser.add_argument("--directory", default=None)
    parser.add_argument("--log", help="an existing log instead of one that is made")
    parser.add_argument("--quick", action="store_true", help="without mawk and Python")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="report-bench-", dir=options.directory) as directory:
        log = options.log or os.path.join(directory, "log")
        if not options.log:
            make_log(log, options.megabytes * 1_000_000, options.split, options.names)
        size = os.path.getsize(log)
        subprocess.run(["cat", log], stdout=subprocess.DEVNULL, check=True)  # into the page cache
        top = [options.sonicreport, "top"]
        commands = [("grep -c malloc", ["grep", "-c", "malloc", log]),
                    ("sonicreport top, 1 job", top + ["--jobs", "1", log]),
                    ("sonicreport top, 2 jobs", top + ["--jobs", "2", log])]
        if not options.quick:
            commands += [("mawk", ["mawk", MAWK, log]),
                         ("the note's Python script", [sys.executable, "-c", SCRIPT, log])]
        print("log of %d bytes, load %.1f" % (size, os.getloadavg()[0]))
        speeds, costs, memories = {}, {}, {}
        for name, command in commands:
            spent, used, memory = run(command)
            speeds[name], costs[name], memories[name] = size / 1e6 / spent, size / 1e6 / used, memory
            print("%-26s %8.0f MB/s %8.0f MB a second of processor %8.1f MiB"
                  % (name, speeds[name], costs[name], memory), flush=True)
        # By processor time, which other programs on the machine disturb less.
        one, grep = costs["sonicreport top, 1 job"], costs["grep -c malloc"]
        print("1 job is %.2f of grep by processor time, 2 jobs are %.2f of 1 by the clock"
              % (one / grep, speeds["sonicreport top, 2 jobs"] / speeds["sonicreport top, 1 job"]))
        most = max(memories["sonicreport top, 1 job"], memories["sonicreport top, 2 jobs"])
        if options.check and (one < 0.3 * grep or most > 64):
            sys.exit(1)


if __name__ == "__main__":
    main()
