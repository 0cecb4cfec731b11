#!/usr/bin/env python3
"""What tracing costs: a call of an empty function, and whole programs, beside other tracers.

Each number is the median of the rounds; the rounds of the methods compared are interleaved, so that a
machine that gets slower does so for all. The methods:

  native      nobody traces
  text        sonictrace --engine=inline, one line a call, to a file
  null        the same to /dev/null
  counts      sonictrace --engine=inline -c
  breakpoint  sonictrace --engine=breakpoint, to a file
  floor       two of the kernel's own stops, with the least that a tracer of breakpoints can do at each
  ltrace      ltrace -T -tt, to a file
  uftrace     uftrace record --force: binary records
  audit       LD_AUDIT, a ring that nobody reads (bench_audit.c)

A run that does not end in time is stopped; what is known of it then is a lower bound, marked with >.
By default this takes less than three minutes; --full measures the rest.
"""
import argparse
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

METHODS = ("native", "text", "null", "counts", "breakpoint", "floor", "ltrace", "uftrace", "audit")
# So that a run takes long enough to be measured, and no longer than some seconds.
CALLS = {"native": 20_000_000, "text": 1_000_000, "null": 2_000_000, "counts": 5_000_000,
         "breakpoint": 20_000, "floor": 20_000, "ltrace": 10_000, "uftrace": 1_000_000,
         "audit": 2_000_000}
GOALS = (  # what, two methods, and at most how many times dearer the first is than the second
    ("a call as text, beside ltrace", "text", "ltrace", 1 / 4000),
    ("a call as text, beside uftrace", "text", "uftrace", 1),
    ("a call that is counted, beside none", "counts", "native", 20),
)


class Result:
    """Seconds (or nanoseconds) that a run took, a lower bound of it, or in words what went wrong."""

    def __init__(self, value=None, at_least=False, wrong=None):
        self.value, self.at_least, self.wrong = value, at_least, wrong


def run(argv, cores, limit, environment=None):
    """(CompletedProcess or None at the time limit, seconds). The whole group ends with it."""
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    begin = time.monotonic()
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace",
                               env={**os.environ, **(environment or {})}, start_new_session=True,
                               preexec_fn=lambda: os.sched_setaffinity(0, allowed))
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, time.monotonic() - begin
    return subprocess.CompletedProcess(argv, process.returncode, out, err), time.monotonic() - begin


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def traced(method, options, program, work, filters=()):
    """The command line that runs PROGRAM by METHOD, and what it adds to the environment."""
    log = os.path.join(work, "log")
    sonictrace = [options.sonictrace, "--quiet", *filters, "-T", "-tt"]
    return {
        "native": (program, {}),
        "text": ([*sonictrace, "--engine=inline", "-o", log, *program], {}),
        "null": ([*sonictrace, "--engine=inline", "--thin-after=0", "-o", "/dev/null", *program], {}),
        "counts": ([options.sonictrace, "--quiet", *filters, "--engine=inline", "-c", "-o", log,
                    *program], {}),
        "breakpoint": ([*sonictrace, "--engine=breakpoint", "-o", log, *program], {}),
        "ltrace": ([options.ltrace or "ltrace", *filters, "-f", "-T", "-tt", "-o", log, *program], {}),
        "uftrace": ([options.uftrace or "uftrace", "record", "--force", "--no-event", "-d",
                     os.path.join(work, "uftrace"), *program], {}),
        "audit": (program, {"LD_AUDIT": os.path.join(options.programs, "libbench_audit.so")}),
    }[method]


# A call of an empty function.

def calls_seen(method, function, work):
    """How many calls of the function are recorded; None where nobody can tell."""
    log = os.path.join(work, "log")
    if method in ("text", "breakpoint", "ltrace"):
        with open(log, encoding="utf-8", errors="replace") as lines:
            return sum(function + "(" in line for line in lines)
    if method == "counts":
        with open(log, encoding="utf-8") as table:
            rows = [re.search(rf"(\d+) {function}$", line) for line in table]
        return sum(int(row[1]) for row in rows if row)
    return None


def measure_call(method, options, cores, threads, work, function="bench_empty"):
    calls = CALLS[method] // threads * threads
    program = [os.path.join(options.programs, function.replace("empty", "call")), str(calls), str(threads)]
    if method == "floor":
        argv, environment = [os.path.join(options.programs, "bench_stop"), str(calls)], {}
    else:
        argv, environment = traced(method, options, program, work, ("-e", function))
    done, took = run(argv, cores, options.limit, environment)
    try:
        if done is None:
            return Result(took * 1e9 / calls, at_least=True)
        try:
            value = float(done.stdout)
        except ValueError:
            return Result(wrong=f"fails: {last_line(done.stderr) or f'status {done.returncode}'}")
        seen = calls_seen(method, function, work)
        if seen is not None and seen != calls:
            return Result(wrong=f"miscounts: {seen} calls, of {calls}")
        return Result(2 * value if method == "floor" else value)  # two stops make a call
    finally:
        clear(work)


# Whole programs.

def measure_program(method, options, program, work, limit):
    argv, environment = traced(method, options, program, work)
    done, took = run(argv, len(os.sched_getaffinity(0)), limit, environment)
    try:
        if done is not None:
            if done.returncode != 0:
                return Result(wrong=f"fails: {last_line(done.stderr) or f'status {done.returncode}'}")
            return Result(took)
        if method == "ltrace":  # which has got so far; as many calls as python itself makes are to come
            with open(os.path.join(work, "log"), "rb") as log:
                seen = sum(1 for _ in log)
            total = options.calls_of_main(program)
            if seen and total:
                return Result(max(took, took * total / seen), at_least=True)
        return Result(took, at_least=True)
    finally:
        clear(work)


def calls_of_main(options, work):
    """A function that counts the calls a program's main module makes, once for each program."""
    known = {}

    def count(program):
        key = tuple(program)
        if key not in known:
            log = os.path.join(work, "main-calls")
            run([options.sonictrace, "--quiet", "--engine=inline", "-e", "@MAIN", "-c", "-o", log,
                 *program], len(os.sched_getaffinity(0)), options.limit)
            try:
                with open(log, encoding="utf-8") as table:
                    rows = [re.search(r"(\d+) total$", line) for line in table]
                known[key] = sum(int(row[1]) for row in rows if row)
                os.remove(log)
            except OSError:
                known[key] = 0
        return known[key]

    return count


def clear(directory):
    for entry in os.scandir(directory):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.remove(entry.path)


# The tables.

class Row:
    """The results of all rounds of one row."""

    def __init__(self, name, methods):
        self.name = name
        self.results = {method: [] for method in methods}

    def measure(self, rounds, once):
        for _ in range(rounds):
            for method, results in self.results.items():
                if not results or (results[-1].wrong is None and not results[-1].at_least):
                    results.append(once(method))  # what hangs or fails does so again

    def median(self, method):
        values = [r.value for r in self.results.get(method, []) if r.value is not None]
        return statistics.median(values) if values else None

    def at_least(self, method):
        return any(r.at_least for r in self.results.get(method, []))

    def ratio(self, method, other):
        ours, theirs = self.median(method), self.median(other)
        return ours / theirs if ours and theirs else None

    def complaints(self):
        for method, results in self.results.items():
            for wrong in sorted({r.wrong for r in results if r.wrong}):
                yield f"{method} {wrong}"

    def show(self):
        print(f"{self.name:<24}" + "".join(f"{self._number(m):>12}" for m in METHODS))
        for other in ("native", "ltrace"):
            ratios = [(m, self.ratio(m, other)) for m in METHODS]
            print(f"{'  to ' + other:<24}"
                  + "".join(f"{'-' if r is None or m == other else self._ratio(r):>12}"
                            for m, r in ratios))
        for line in self.complaints():
            print(f"  {line}")
        sys.stdout.flush()

    def _number(self, method):
        value = self.median(method)
        if value is None:
            return "-"
        text = f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
        return (">" if self.at_least(method) else "") + text

    @staticmethod
    def _ratio(ratio):
        return f"x{ratio:,.1f}" if ratio >= 0.1 else f"1/{1 / ratio:,.0f}"


def header(title):
    print(f"\n{title:<24}" + "".join(f"{m:>12}" for m in METHODS))


def usable(options):
    missing = {m for m, tool in (("ltrace", options.ltrace), ("uftrace", options.uftrace)) if not tool}
    return [m for m in METHODS if m not in missing and (not options.methods or m in options.methods)]


def call_table(options, work):
    header("ns a call")
    rows = []
    for cores, threads in options.shapes:
        if cores > len(os.sched_getaffinity(0)):
            continue
        # bench_stop has one thread.
        row = Row(f"{cores} core{'s' if cores > 1 else ''}, {threads} thread{'s' if threads > 1 else ''}",
                  [m for m in usable(options) if m != "floor" or threads == 1])
        row.measure(options.rounds,
                    lambda m, c=cores, t=threads: measure_call(m, options, c, t, work))
        row.show()
        rows.append((cores, threads, row))
    return rows


def text_row(options, work):
    """The same of a function that takes a `std::string const&`, of which only its name is known, on
    as many cores as there are but no more than two."""
    cores = min(2, len(os.sched_getaffinity(0)))
    methods = [m for m in usable(options) if m in ("native", "text", "null", "counts", "breakpoint")]
    row = Row("with a std::string", methods)
    row.measure(options.rounds,
                lambda m: measure_call(m, options, cores, 1, work, "bench_empty_text"))
    row.show()
    return row


def program_table(options, work):
    header("s a run")
    python = "/usr/bin/python3"  # Debian's, which has torch; another one may come first in PATH
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    methods = [m for m in usable(options) if m != "floor"]
    quick = [m for m in methods if m in ("native", "text", "null", "counts")]
    programs = [("/bin/true", ["/bin/true"], methods, 20),
                ("python3 -c 'print(1)'", [python, "-c", "print(1)"], methods, 20),
                ("import torch", [python, "-c", "import torch"], methods if options.full else quick,
                 300 if options.full else 20)]
    if options.full:
        model = os.path.join(options.keep, "sonic_model.pt")
        sonic = [python, os.path.join(source, "examples", "sonic", "run_sonic.py"),
                 "--duration", "1", "--resolution", "256", "--model", model,
                 "--output", os.path.join(options.keep, "sonic.mp4")]
        programs.append(("examples/sonic", sonic, methods, 300))
    rows = {}
    for name, program, columns, limit in programs:
        if not os.path.exists(program[0]):
            print(f"{name}: {program[0]} is not installed")
            continue
        row = Row(name, columns)
        row.measure(1 if options.full and limit > 100 else options.rounds,
                    lambda m, p=program, l=limit: measure_program(m, options, p, work, l))
        row.show()
        rows[name] = row
    return rows


def judge(call_rows, of_text, program_rows):
    """How far the goals are met."""
    print("\ngoals")
    plain = next((row for cores, threads, row in call_rows if (cores, threads) == (2, 1)), None)
    for method in ("text", "null"):
        if plain and plain.median(method) and of_text.median(method):
            more_ns = of_text.median(method) - plain.median(method)
            print(f"  {'met' if more_ns <= 60 else 'MISSED'}: a std::string as argument, {method}:"
                  f" {more_ns:.0f} ns more, at most 60")
    for cores, threads, row in call_rows:
        if (cores, threads) != (2, 1):
            continue
        for what, method, other, at_most in GOALS:
            say_goal(what, row.ratio(method, other), at_most)
    true = program_rows.get("/bin/true")
    for method in ("text", "breakpoint"):
        if true and true.median(method) and true.median("native"):
            more_ms = (true.median(method) - true.median("native")) * 1000
            print(f"  {'met' if more_ms <= 20 else 'MISSED'}: /bin/true, {method}: {more_ms:.1f} ms"
                  " more than untraced, at most 20")
    torch = program_rows.get("import torch")
    if torch:
        say_goal("import torch, every call as text to nowhere", torch.ratio("null", "native"), 4)
        say_goal("import torch, thinned to a file", torch.ratio("text", "native"), 4)
        say_goal("import torch, counted", torch.ratio("counts", "native"), 3)


def say_goal(what, ratio, at_most):
    def times(number):
        return f"{number:.2f} times" if number >= 0.01 else f"1/{1 / number:,.0f}"
    if ratio is None:
        print(f"  not measured: {what}")
    else:
        verdict = "met" if ratio <= at_most else f"MISSED, {ratio / at_most:.2f} times as dear as it may be"
        print(f"  {verdict}: {what}: {times(ratio)}, at most {times(at_most)}")


def machine():
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((l.split(":")[1].strip() for l in info if l.startswith("model name")), "")
    return f"{model}, {len(os.sched_getaffinity(0))} cores, Linux {platform.release()}"


def check(options, rows):
    """1 where a ratio that was asked for is not reached, or one of ours fails."""
    status = 0
    for _, _, row in rows:
        for method, wanted in (("breakpoint", options.at_least), ("text", options.inline_at_least)):
            if not wanted:
                continue
            ratio = row.ratio("ltrace", method)
            if ratio is None or ratio < wanted:
                print(f"{row.name}: {method} is {ratio and round(ratio, 1)} times cheaper than ltrace,"
                      f" not {wanted}")
                status = 1
    return status


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sonictrace", required=True, help="the program to measure")
    parser.add_argument("--programs", required=True, help="where bench_call and the others are")
    parser.add_argument("--ltrace", default=shutil.which("ltrace"))
    parser.add_argument("--uftrace", default=shutil.which("uftrace"))
    parser.add_argument("--cores", type=int, nargs="+", help="with --threads: each with each")
    parser.add_argument("--threads", type=int, nargs="+")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="only these")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--full", action="store_true",
                        help="all numbers of cores and threads; whole programs under every method")
    parser.add_argument("--calls-only", action="store_true", help="no whole programs")
    parser.add_argument("--limit", type=float, default=15, help="seconds for a run of calls")
    parser.add_argument("--at-least", type=float, metavar="RATIO",
                        help="fail when ltrace / breakpoint is below this anywhere")
    parser.add_argument("--inline-at-least", type=float, metavar="RATIO",
                        help="fail when ltrace / text is below this anywhere")
    options = parser.parse_args()
    if options.cores or options.threads:
        options.shapes = [(c, t) for c in options.cores or [2] for t in options.threads or [1]]
    elif options.full:
        options.shapes = [(c, t) for c in (1, 2) for t in (1, 2, 8)]
    else:
        options.shapes = [(1, 1), (2, 1), (2, 2), (2, 8)]
    return options


def main():
    options = parse()
    if (options.at_least or options.inline_at_least) and not options.ltrace:
        print("ltrace is not installed: nothing to compare with")
        return 77
    print(f"{machine()}; medians of {options.rounds} rounds")
    with tempfile.TemporaryDirectory(prefix="sonictrace-bench-") as directory:
        work, options.keep = os.path.join(directory, "work"), directory
        os.mkdir(work)
        options.calls_of_main = calls_of_main(options, directory)
        rows = call_table(options, work)
        programs = {}
        if not options.calls_only:
            of_text = text_row(options, work)
            programs = program_table(options, work)
            judge(rows, of_text, programs)
    return check(options, rows)


if __name__ == "__main__":
    sys.exit(main())
