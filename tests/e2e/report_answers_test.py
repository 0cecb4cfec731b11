#!/usr/bin/env python3
"""Questions that sonicreport is asked, with the answers that are known, and some of real programs.

  report_answers_test.py SONICREPORT SONICTRACE SOURCE_DIR CASE
"""
import csv
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sonicreport, sonictrace, source, case = sys.argv[1:]
SOURCE = pathlib.Path(source)
directory = tempfile.TemporaryDirectory(prefix="report-answers-")
WORK = pathlib.Path(directory.name)


def log(name, *parts):
    """Parts: (name of a function, calls, microseconds each), one after the other."""
    lines, now = [], 0
    for function, calls, spent in parts:
        for _ in range(calls):
            lines.append(f"00:{now // 60_000_000:02}:{now // 1_000_000 % 60:02}.{now % 1_000_000:06} {function}(1) = 0 "
                         f"<{spent // 1_000_000}.{spent % 1_000_000:06}>")
            now += spent + 2
    path = WORK / name
    path.write_text("\n".join(lines) + "\n")
    return path


def report(*arguments, status=0):
    done = subprocess.run([sonicreport, *map(str, arguments)], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout


def rows(*arguments, status=0):
    return list(csv.DictReader(io.StringIO(report(*arguments, "--format", "csv", status=status))))


def trace(*arguments, **more):
    return subprocess.run([sonictrace, *map(str, arguments)], capture_output=True, text=True, timeout=100, cwd=WORK,
                          check=True, **more)


def compile_c(name, text, *options):
    path = WORK / f"{name}.c"
    path.write_text(text)
    subprocess.run(["cc", "-O1", "-w", path, "-o", WORK / name, *options], check=True)
    return WORK / name


def test_functions_without_symbols_by_their_places():
    made = log("places.log", ("libfoo.so+0x1234", 3, 5), ("libfoo.so+0x1240", 1, 7))
    assert [(row["calls"], row["function"]) for row in rows("top", "-U", "calls,function", made)] == [
        ("3", "libfoo.so+0x1234"), ("1", "libfoo.so+0x1240")]


def test_names_with_parentheses_whole():
    made = log("names.log", ("std::function<int (char)>::operator()", 1, 5), ("(anonymous namespace)::f", 1, 4))
    assert [row["function"] for row in rows("top", made)] == ["std::function<int (char)>::operator()",
                                                             "(anonymous namespace)::f"]


def test_waits_before_and_after_the_weights_are_in_memory():
    before = log("disk.log", ("at::native::conv2d", 20, 30_000), ("usleep", 40, 12_000), ("pthread_cond_wait", 30, 9_000))
    after = log("shm.log", ("at::native::conv2d", 20, 30_000), ("usleep", 4, 12_000), ("pthread_cond_wait", 3, 9_000))
    text = report("top", "--class", "wait", before)
    assert re.search(r"wait: 0\.7500 s in 70 calls, 55\.6 % of the self time of all calls", text), text
    text = report("diff", "--allow-single", before, after)
    assert re.search(r"usleep +40 -> 4 .*improved", text), text
    assert re.search(r"pthread_cond_wait +30 -> 3 .*improved", text), text
    assert re.search(r"at::native::conv2d +20 -> 20 ", text), text


def test_half_as_many_steps_again_are_more_calls_and_not_slower_ones():
    def steps(name, count):
        path = log(name, ("diffusion_step_loop", count, 50_000), ("at::native::conv2d", 40, 3_000))
        with open(path, "a", encoding="utf-8") as out:
            out.write("+++ diffusion_step_loop is in libtorch_cpu.so +++\n")
        return path
    text = report("diff", "--allow-single", steps("steps20.log", 20), steps("steps30.log", 30))
    row = re.search(r"^diffusion_step_loop .*$", text, re.M)[0]
    assert re.search(r"20 -> 30 +\+50\.0 %", row) and "more calls" in row, row
    assert re.search(r"^all of libtorch_cpu\.so +20 -> 30 .*\+50\.0 % raw", text, re.M), text


def test_stages_and_when_they_were_at_work():
    stages = WORK / "stages"
    stages.write_text('[audio features]\nfunc = "swr_*"\n[frame generation]\nfunc = "at::*"\n')
    made = log("stages.log", ("swr_convert", 10, 100), ("at::conv2d", 20, 1_000), ("malloc", 5, 10))
    by_stage = {row["stage"]: int(row["self_ns"]) for row in rows("top", "--by", "stage", "--stages", stages, made)}
    assert by_stage == {"audio features": 1_000_000, "frame generation": 20_000_000, "other": 50_000}
    times = {row["stage"]: row for row in rows("timeline", "--stages", stages, made)}
    frames = times["frame generation"]
    assert (frames["calls"], frames["busy_ns"], frames["first_start_ns"]) == ("20", "20000000", "1020000"), frames
    assert frames["gap_ns"] == str(19 * 2_000) and frames["wait_ns"] == "2000", frames


def test_library_calls_and_system_calls_read_together():
    calls = log("calls.log", ("malloc", 3, 10), ("conv2d", 2, 100))
    system = log("system.log", ("read@SYS", 4, 20), ("futex@SYS", 2, 50))
    assert {row["class"]: row["calls"] for row in rows("top", "--by", "class", calls, system)} == {
        "cpu": "2", "mem": "3", "io": "4", "wait": "2"}


def test_system_calls_in_order_of_number():
    numbers = {"read": 9_102, "futex": 14_763, "mmap": 134, "write": 7_831, "close": 89, "openat": 92}
    made = log("numbers.log", *((f"{name}@SYS", calls, 1) for name, calls in numbers.items()), ("malloc", 20_000, 1))
    found = rows("top", "--kind", "syscall", "-s", "calls", made)
    assert [(row["function"], int(row["calls"])) for row in found] == sorted(numbers.items(), key=lambda one: -one[1])


def test_a_lock_that_was_taken_out():
    before = log("before.log", ("futex@SYS", 14_763, 1_000), ("conv2d", 7, 1_000_000))
    after = log("after.log", ("futex@SYS", 3_990, 200), ("conv2d", 7, 1_000_000))
    text = report("diff", "--allow-single", before, after)
    assert re.search(r"^futex +14763 -> 3990 +-73\.0 %.*improved", text, re.M), text
    assert re.search(r"^wall +21\.8s -> 7\.81s .*improved", text, re.M), text


def test_a_window_shows_the_start():
    made = log("start.log", ("mmap", 110, 10_000), ("brk", 20, 100_000), ("conv2d", 30, 1_000_000))
    found = {row["function"]: row["calls"] for row in rows("top", "--window", "0s:2s", made)}
    assert found == {"mmap": "110", "brk": "9"}, found


def test_a_burst_of_writes():
    made = log("burst.log", ("conv2d", 40, 100_000), ("write", 2_000, 20), ("conv2d", 20, 100_000), ("write", 3, 20))
    text = report("timeline", "--func", "write", "--bucket", "100ms", made)
    assert "bursts: 1\n" in text and re.search(r"2,?000 calls \(99\.9 % of all\)", text), text
    assert re.search(r"^WARN burst 2000 writes in 100\.0ms > 1000", report("rules", made), re.M)


def test_what_a_frame_costs():
    lines, now = [], 0
    for frame, reads in enumerate((3, 5, 40, 3, 4)):
        begin = now
        for _ in range(reads):
            now += 10
            lines.append(f"00:00:00.{now:06} read@SYS(3) = 1 <0.000005>")
        now += 10
        lines.append(f"00:00:00.{begin:06} generate_frame({frame}) = 0 <0.{now - begin:06}>")
        now += 10
        lines.append(f"00:00:00.{now:06} write@SYS(1) = 1 <0.000005>")
        now += 10
    path = WORK / "frames.log"
    path.write_text("\n".join(lines) + "\n")
    found = {row["function"]: row for row in rows("top", "--per-frame", "--frame-func", "generate_frame", path)}
    read = found["read"]
    assert [read[key] for key in ("median", "p99", "max", "worst_frame")] == ["4", "40", "40", "3"], read
    assert (read["in_frames"], found["write"]["outside"]) == ("55", "5"), found
    assert found["(all)"]["calls"] == "60", found


def test_a_fight_for_a_lock_is_one_wide_tower():
    program = compile_c("lock", """
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int sum;
__attribute__((noinline)) static void look_into_cache(int n) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 20000; ++i) sum += n;
  pthread_mutex_unlock(&lock);
}
static void* work(void* nothing) {
  for (int i = 0; i < 300; ++i) look_into_cache(i);
  return nothing;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
  return 0;
}""", "-pthread", "-rdynamic", "-fno-omit-frame-pointer")
    trace("-T", "-tt", "-w", "8", "-e", "pthread_mutex_lock", "-o", "lock.log", program)
    assert report("flame", "-o", "lock.svg", "lock.log")
    stacks = dict(line.rsplit(" ", 1) for line in report("flame", "--format", "folded", "lock.log").splitlines())
    all_us = sum(map(int, stacks.values()))
    through = sum(int(us) for stack, us in stacks.items() if re.search(r";work[^;]*;.*;pthread_mutex_lock$", stack))
    assert all_us > 0 and through >= 0.95 * all_us, stacks
    assert "pthread_mutex_lock" in (WORK / "lock.svg").read_text()


def test_the_example_finds_the_slow_call():
    environment = {**os.environ, "SONICTRACE": sonictrace, "SONICREPORT": sonicreport, "WORK": str(WORK / "slow")}
    done = subprocess.run([SOURCE / "examples/find_the_slow_call/run.sh"], env=environment, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    out = done.stdout
    assert re.search(r"^ *[\d.]+ .* 30720 .*fread$", out, re.M), out
    assert re.search(r"^WARN reread .*model\.bin opened 60 times > 5, 30720 reads, 125,829,120 bytes", out, re.M), out
    assert re.search(r"^from end .* gap [\d.]+ ms +in between: .*fread", out, re.M), out
    assert re.search(r"^fopen +60 -> 1 ", out, re.M), out


def test_the_workflow_for_ci():
    if not shutil.which("jq"):
        print(": Skipped\njq is not installed")
        sys.exit(77)
    text = (SOURCE / "examples/ci/calls.yml").read_text()
    steps = re.findall(r"^      - name: (.*)\n        run: \|\n((?:          .*\n)+)", text, re.M)
    assert [name for name, _ in steps] == ["Trace", "Count", "Compare with the version before", "Keep"]
    program = compile_c("wakes", """
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static int word;
int main(int argc, char** argv) {
  for (int i = 0; i < atoi(argv[1]); ++i) syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0);
  return 0;
}""")
    tools = WORK / "tools"
    tools.mkdir()
    for name, path in (("sonictrace", sonictrace), ("sonicreport", sonicreport)):
        (tools / name).symlink_to(path)

    def run(futex_calls):
        """What each step printed, and the status of the first that failed."""
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "GITHUB_SHA": "0123abc",
                       "RUN": f"{program} {futex_calls}"}
        said = {}
        for name, lines in steps:
            done = subprocess.run(["bash", "-e", "-c", lines], cwd=WORK, env=environment, capture_output=True, text=True,
                                  timeout=100)
            said[name] = done.stdout
            if done.returncode != 0:
                return said, done.returncode
        return said, 0

    said, status = run(100)
    assert status == 0 and said["Count"] == "100\n", said
    assert run(130)[1] == 0
    said, status = run(170)  # of 130: 30.8 % more
    assert status == 1 and "130 -> 170" in said["Compare with the version before"], (said, status)
    assert "Keep" not in said


globals()["test_" + case]()
print("ok")
