"""The packages of tests/oracles/package.json, installed once into a directory of the build."""
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

WANTED = pathlib.Path(__file__).resolve().parents[1] / "oracles" / "package.json"
SKIPPED = 77  # what CTest takes for a test that was skipped


def skip(reason):
    print(f": Skipped\n{reason}")  # as GoogleTest says it: tests/run.sh shows the reason
    sys.exit(SKIPPED)


def node_modules(directory):
    """Where the packages are; ends the test as skipped, with the reason, where they can't be had."""
    for tool in ("node", "npm"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    stamp = directory / "installed"
    with open(directory / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side
        wanted = WANTED.read_text(encoding="utf-8")
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
            shutil.copyfile(WANTED, directory / "package.json")
            try:
                done = subprocess.run(
                    ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts",
                     "--cache", directory / "cache", "--fetch-retries", "1", "--fetch-timeout", "60000"],
                    cwd=directory, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL,
                    env={**os.environ, "NO_UPDATE_NOTIFIER": "1"})
            except subprocess.TimeoutExpired:
                skip("npm install took more than four minutes")
            if done.returncode != 0:
                lines = [line for line in done.stderr.splitlines() if "code " in line]
                skip("npm install: " + (lines or done.stderr.splitlines() or ["failed"])[0].strip())
            shutil.rmtree(directory / "cache", ignore_errors=True)
            stamp.write_text(wanted, encoding="utf-8")
    return directory / "node_modules"
