#!/usr/bin/env python3
"""Compares a tracer with the golden logs of real ltrace 0.7.3.

usage: check.py --sonictrace PROGRAM --work DIRECTORY [--update | --update-right] CASE...

A case is cases/CASE: a program, how it is built (build), ltrace's options (args), and what ltrace wrote
(expected.073; .Ttt with -T -tt in front of the options). Where ltrace is wrong NOTE.md says so, and
expected.right, if it is there, has what sonictrace --ltrace is to write instead. expected.default is what
sonictrace writes by default. Each log is normalised by normalize.py before it is compared.
Where ltrace itself is at hand and right, it runs beside sonictrace and both must write the same.
--update writes expected.default anew, --update-right expected.right. Then look at each of them.
"""
import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What runs in threads or processes comes in any order.
BY_PID = ("thread", "fork", "spawn", "vfork", "system", "no-return")
# Logs that differ from run to run even then: the order of SIGCHLD, sizes, who is first.
NOT_REPEATABLE = {
    "attach": "cut where the tracer was told to stop",
    "attach-exit": "attached wherever the program was",
    "attach-threads": "attached wherever the threads were",
    "opt-S": "sizes and calls of this system's dynamic linker",
    "opt-S-L": "sizes and calls of this system's dynamic linker",
    "opt-c-S": "sizes and calls of this system's dynamic linker",
    "sigstop": "ltrace shows the stop once or twice",
    "vfork-exec": "SIGCHLD comes when it likes",
    "vfork-threads": "ltrace loses calls, or dies",
}


class Case:
    def __init__(self, name, work):
        self.name = name
        self.source = HERE / "cases" / name
        self.directory = work / name
        self.args = (self.source / "args").read_text().split()
        self.has_note = (self.source / "NOTE.md").exists()
        self.by_pid = name.startswith(BY_PID)

    def build(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        ignore = shutil.ignore_patterns("expected.*", "NOTE.md")
        shutil.copytree(self.source, self.directory, ignore=ignore)
        command = (self.source / "build").read_text()
        done = subprocess.run(["sh", "-c", command], cwd=self.directory, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{self.name}: can't be built: {done.stderr}")

    def has_times(self):
        fixed = ("-r", "-T", "-h", "-V", "-c", "-t", "-tt", "-ttt")
        return not any(option in fixed for option in self.args)

    def run(self, tracer, extra):
        """What the tracer wrote to stderr, and its log file behind it."""
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC0",
                       "HOME": str(self.directory)}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"): # of sonictrace, where it is built with them
            if name in os.environ:
                environment[name] = os.environ[name]
        if (self.source / "run").exists():
            command = ["bash", "./run"]
            environment.update(TRACER=" ".join(tracer), EXTRA=" ".join(extra))
        else:
            command = tracer + extra + self.args + ["./prog"]
        with open(self.directory / "out", "wb") as out:
            done = subprocess.run(command, cwd=self.directory, env=environment, timeout=60,
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
        text = done.stderr
        log = self.directory / "log"
        if log.exists():
            text += b"== file log\n" + log.read_bytes()
            log.unlink()
        return text

    def normalise(self, text):
        if isinstance(text, Path):
            text = text.read_bytes()
        options = ["--by-pid"] if self.by_pid else []
        done = subprocess.run([sys.executable, HERE / "normalize.py", *options], input=text,
                              capture_output=True, check=True)
        return self.settle(done.stdout.decode("utf-8", "surrogateescape"))

    def settle(self, log):
        """Evens out what the scheduler, the address layout and the surroundings decide."""
        # The C library of a static program copies pointers.
        log = re.sub(r'^((?:<TIME> )?memcpy\(@\d+, )".*"(, 24\))', r"\1POINTERS\2", log,
                     flags=re.MULTILINE)
        # It copies the path of the directory, too.
        log = re.sub(r'mempcpy\((@\d+), ("[^"]*"(?:\.\.\.)?|@\d+), \d+', r"mempcpy(\1, PATH", log)
        log = re.sub(r"\[ \"[A-Z_]+=.*?\]", "[ ENVIRONMENT ]", log)
        # Which thread is the last at a barrier.
        log = re.sub(r"(pthread_barrier_wait\([^)]*\) +)= \w+", r"\1= N", log)
        # The C library asks for as many as the processor has features.
        log = re.sub(r"^__tunable_get_val.*\n", "", log, flags=re.MULTILINE)
        # An argument that was not passed: whatever the register held. In cmp that is a character of
        # the last strcmp, of which string depends on whether one of them lay at a page's end.
        log = re.sub(r"(open\(.*, 0), 0[0-7]{8,}\) +=", r"\1, JUNK) =", log)
        log = re.sub(r"\b(cmp\(@\d+, @\d+, \d+), \d+\b", r"\1, JUNK", log)
        if not self.by_pid:
            return log
        log = re.sub(r"(waitpid|posix_spawn)\((P?\d+),", r"\1(PID,", log)
        # In whole lines a child may end before its parent's call does.
        log = re.sub(r"\bP\d+\b", "P", log) if "== file log" in log else log
        lines = sorted(log.splitlines()) if "== file log" in log else log.splitlines()
        children = [line for line in lines if "--- SIGCHLD" in line] # come when they like
        return "\n".join([line for line in lines if line not in children] + children) + "\n"


def differences(wanted, got, names):
    lines = difflib.unified_diff(wanted.splitlines(), got.splitlines(), *names, lineterm="", n=1)
    return [line.encode("utf-8", "backslashreplace").decode() for line in lines]


def own_lines(text):
    """Of a default log: our cost and the program's address layout are not the same in each run."""
    text = re.sub(r"[\d.]+ [nu]s own cost", "N own cost", text)
    return re.sub(r"\(\+0x[0-9a-f]+\)", "(+0x)", text)


def retry(case, check):
    """Threads and processes are scheduled as they like: one run of several is to be as recorded."""
    attempts = 12 if case.by_pid or case.name.startswith("attach") else 1
    for _ in range(attempts):
        faults = check()
        if not faults:
            break
    return faults


def check_ltrace_form(case, sonictrace):
    faults = []
    repeatable = case.name not in NOT_REPEATABLE
    ltrace = shutil.which("ltrace") if repeatable and not case.has_note else None
    for suffix, extra in (("", []), (".Ttt", ["-T", "-tt"])):
        right = case.source / f"expected.right{suffix}"
        wanted = right if right.exists() else case.source / f"expected.073{suffix}"
        if not wanted.exists() or (suffix and not case.has_times()):
            continue
        if not right.exists() and case.has_note and not repeatable:
            continue
        recorded = wanted.read_text(errors="surrogateescape") if right.exists() else case.normalise(wanted)

        def compare():
            got = case.normalise(case.run([sonictrace, "--ltrace"], extra))
            found = differences(recorded, got, (wanted.name, "sonictrace --ltrace"))
            if ltrace and not found:
                live = case.normalise(case.run([ltrace], extra))
                found += differences(live, got, ("ltrace, now", "sonictrace --ltrace"))
            return found

        faults += retry(case, compare)
    return faults


def update_right(case, sonictrace):
    for suffix, extra in (("", []), (".Ttt", ["-T", "-tt"])):
        if not suffix or case.has_times():
            log = case.normalise(case.run([sonictrace, "--ltrace"], extra))
            (case.source / f"expected.right{suffix}").write_text(log, errors="surrogateescape")


def default_log(case, sonictrace):
    # Breakpoints leave alone what registers hold that no argument is in. What debug information is
    # installed differs from machine to machine; e2e.described is about it.
    options = ["--engine=breakpoint", "--no-debug-info"]
    return own_lines(case.normalise(case.run([sonictrace] + options, [])))


def update_default(case, sonictrace):
    if case.name not in NOT_REPEATABLE:
        log = default_log(case, sonictrace)
        (case.source / "expected.default").write_text(log, errors="surrogateescape")


def check_default_form(case, sonictrace):
    if case.name in NOT_REPEATABLE:
        return []
    wanted = case.source / "expected.default"
    if not wanted.exists():
        return [f"{wanted.name} is missing"]
    recorded = wanted.read_text(errors="surrogateescape")
    return retry(case, lambda: differences(recorded, default_log(case, sonictrace),
                                           (wanted.name, "sonictrace")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sonictrace", required=True)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--update-right", action="store_true")
    parser.add_argument("--ltrace-only", action="store_true")
    parser.add_argument("case", nargs="+")
    options = parser.parse_args()
    sonictrace = str(Path(options.sonictrace).resolve())
    bad = 0
    for name in options.case:
        case = Case(name, options.work)
        case.build()
        if options.update_right:
            update_right(case, sonictrace)
        if options.update:
            update_default(case, sonictrace)
        if options.update or options.update_right:
            continue
        faults = check_ltrace_form(case, sonictrace)
        if not options.ltrace_only:
            faults += check_default_form(case, sonictrace)
        if faults:
            bad += 1
            print(f"== {name}")
            print("\n".join(faults))
    return 1 if bad else 0


sys.exit(main())
