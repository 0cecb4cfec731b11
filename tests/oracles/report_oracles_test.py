#!/usr/bin/env python3
"""sonicreport top against programs that know nothing of it: DuckDB for counts, sums and quantiles,
HdrHistogram and DDSketch for percentiles, c++filt for names; on made logs and on real ones.

  report_oracles_test.py SONICREPORT SONICTRACE PACKAGES CASE
"""
import collections
import csv
import io
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import npm_packages  # noqa: E402

sonicreport, sonictrace, packages, case = sys.argv[1:]
work = tempfile.TemporaryDirectory(prefix="report-oracles-")
WORK = pathlib.Path(work.name)
BUCKET = 1 / 64  # half of a bucket of 1/32: what percentiles are promised to be right to


def say(text):
    print(text, flush=True)


def top(log, *arguments):
    """The rows by name; those of one name in two libraries are added up, without percentiles."""
    out = subprocess.run(
        [sonicreport, "top", "--format", "csv", "-n", "1000000", "--strict", "-U",
         "sum,calls,min,p50,p90,p99,max,lib,function", *arguments, log], check=True, capture_output=True, text=True).stdout
    rows = {}
    for row in csv.DictReader(io.StringIO(out)):
        name = row["function"]
        values = {key.removesuffix("_ns"): int(value or 0) for key, value in row.items()
                  if key not in ("function", "lib")}
        values["timed"] = row["min_ns"] != ""
        if name in rows:
            values = {key: rows[name][key] + values[key] for key in ("sum", "calls", "timed")}
        rows[name] = values
    return rows


def others(log):
    modules = npm_packages.node_modules(packages)
    done = subprocess.run(["node", HERE / "durations.mjs", modules, log], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def compare(log, untimed=(), dense=False):
    """All functions of the log. `untimed`: those that did not return, which DuckDB does not see; `dense`:
    there are no large steps between the durations of a function."""
    ours, theirs = top(log), others(log)
    untimed = set(untimed) | {name for name, row in ours.items() if not row["timed"]}
    assert set(ours) - untimed == set(theirs) - untimed, set(ours) ^ set(theirs)
    worst = collections.Counter()
    for name, say_others in theirs.items():
        row, duckdb = ours[name], say_others["duckdb"]
        assert row["sum"] == duckdb["sum"], (name, row, duckdb)
        if name not in untimed:
            assert row["calls"] == duckdb["calls"], (name, row, duckdb)
        if "p50" not in row:
            continue
        assert (row["min"], row["max"]) == (duckdb["min"], duckdb["max"]), (name, row, duckdb)
        for oracle, values in say_others.items():
            for q in ("p50", "p90", "p99"):
                # DDSketch takes the lower of two neighbours where the others take the upper one; in a
                # real log these may be one microsecond, and two.
                if oracle == "ddsketch" and not dense:
                    continue
                off = abs(row[q] - values[q]) / max(values[q], 1)
                worst[oracle] = max(worst[oracle], off)
                # The sketches' own accuracy is a thousandth.
                allowed = BUCKET if oracle == "duckdb" else BUCKET + 0.0025
                assert off <= allowed, (name, q, row[q], oracle, values[q])
    calls = sum(one["duckdb"]["calls"] for one in theirs.values())
    assert calls > 0
    say(f"{len(theirs)} functions, {calls} calls; percentiles are off by at most " +
        ", ".join(f"{100 * off:.2f} % ({oracle})" for oracle, off in sorted(worst.items())))


def made_log(nanoseconds):
    """Durations of six shapes, over seven decades."""
    draw = random.Random(5)
    shapes = {
        "lognormal": lambda: draw.lognormvariate(9, 1.5),
        "at::native::heavy_tail": lambda: 1000 * draw.paretovariate(1.2),
        "uniform": lambda: draw.uniform(1_000, 50_000),
        "std::vector<int>::two_humps": lambda: draw.gauss(5_000, 300) if draw.random() < 0.7 else draw.gauss(9e6, 1e6),
        "constant": lambda: 123_456,
        "exponential": lambda: draw.expovariate(1e-6),
    }
    log = WORK / "made.log"
    unit = 1 if nanoseconds else 1000
    with open(log, "w", encoding="utf-8") as out:
        now = 0
        for _ in range(120_000):
            name = draw.choice(list(shapes))
            spent = max(0, int(shapes[name]() / unit))
            seconds, part = divmod(now, 10**9 // unit)
            digits = 9 if nanoseconds else 6
            stamp = f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{part:0{digits}}"
            duration = f"{spent * unit // 10**9}.{spent % (10**9 // unit):0{digits}}"
            out.write(f'{stamp} {name}(0x7ffd10, "an <0.5> in a string") = 0x{spent:x} <{duration}>\n')
            now += spent + 1
    return log


def build(source, program, compiler="cc"):
    # ltrace 0.7.3 sees calls through a lazily bound PLT only.
    subprocess.run([compiler, "-O0", "-fno-builtin", "-w", "-pthread", "-no-pie", "-Wl,-z,lazy", source, "-o", program],
                   check=True)


def ltrace(program, log, *options):
    if not shutil.which("ltrace"):
        npm_packages.skip("ltrace is not installed")
    for _ in range(20): # with -f it loses its own breakpoints now and then, and the program with them
        done = subprocess.run(["ltrace", *options, "-T", "-tt", "-o", log, program], capture_output=True,
                              text=True, timeout=100)
        if not log.exists() or "unexpected breakpoint" not in log.read_text(errors="surrogateescape"):
            break
    if not log.exists() or log.stat().st_size == 0:
        npm_packages.skip(f"ltrace can't trace here: {done.stderr.strip()}")


COMPLETED = re.compile(r" <\d+\.\d{6}>$")


def test_durations_of_all_shapes():
    compare(made_log(nanoseconds=False), dense=True)


def test_durations_in_nanoseconds():
    compare(made_log(nanoseconds=True), dense=True)


def test_a_real_log_of_ltrace_f():
    build(HERE.parent / "e2e" / "report_program.c", WORK / "program")
    log = WORK / "ltrace.log"
    ltrace(WORK / "program", log, "-f")
    lines = log.read_text(errors="surrogateescape").splitlines()
    completed = [line for line in lines if COMPLETED.search(line)]
    resumed = sum(" resumed> " in line for line in completed)
    assert resumed >= 2, "no call was split: the log does not test what it should"
    # What did not return has no time, and is no completed call.
    untimed = {match[1] for line in lines if (match := re.search(r" (\w+)\(.*<no return \.\.\.>$", line))}
    untimed.add("_exit") # ltrace says different things of it, as its process's end comes soon or late
    rows = top(log)
    timed = sum(one["calls"] for name, one in rows.items() if name not in untimed)
    more = sum(one["calls"] for name, one in rows.items() if name in untimed)
    assert timed <= len(completed) <= timed + more, (timed, more, len(completed))
    say(f"{len(completed)} completed calls of {len(lines)} lines, {resumed} of them split")
    compare(log, untimed)


def test_a_real_log_of_sonictrace():
    log = WORK / "sonictrace.log"
    subprocess.run([sonictrace, "-T", "-tt", "-o", log, "/usr/bin/python3", "-c", "print(sum(range(1000)))"],
                   check=True, capture_output=True, timeout=100)
    text = log.read_text(errors="surrogateescape")
    untimed = {match[1] for match in re.finditer(r" (\w+)\(.*<no return \.\.\.>$", text, re.M)}
    compare(log, untimed)


def test_names_that_cxxfilt_has_demangled():
    source, program, log = WORK / "names.cpp", WORK / "names", WORK / "mangled.log"
    source.write_text("""
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>
int main() {
  std::map<std::string, std::vector<int>> all;
  for (int i = 0; i < 20; ++i) all[std::to_string(i % 7) + "x"].push_back(i);
  std::function<int(char)> f = [](char c) { return c + 1; };
  std::string text("ab");
  for (char c : text) std::cout << f(c) << ' ' << text.substr(1) + text << std::endl;
  try { (void)text.at(9); } catch (const std::exception& error) { std::cout << error.what() << "\\n"; }
}
""")
    build(source, program, "c++")
    ltrace(program, log)
    demangled = WORK / "demangled.log"
    with open(log, "rb") as mangled, open(demangled, "wb") as out:
        subprocess.run(["c++filt"], stdin=mangled, stdout=out, check=True)
    before, after = top(log), top(demangled)
    names = list(before)
    full = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                          check=True).stdout.splitlines()
    assert sum("(" in name for name in full) >= 10, full
    expected = collections.Counter()
    for name, whole in zip(names, full):
        expected[whole] += before[name]["calls"]
    got = {name: row["calls"] for name, row in after.items()}
    assert got == dict(expected), {name: (got.get(name), expected.get(name)) for name in set(got) | set(expected)
                                   if got.get(name) != expected.get(name)}
    say(f"{len(got)} functions, the longest name has {max(map(len, got))} bytes")


globals()["test_" + case]()
