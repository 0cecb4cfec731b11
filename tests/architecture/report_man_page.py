#!/usr/bin/env python3
"""Fails when an option of a command of sonicreport is not in its manual page, or the other way round.

  report_man_page.py PROGRAM PAGE
"""
import re
import subprocess
import sys

program, page = sys.argv[1:]


def ask(*arguments):
    return subprocess.run([program, *arguments, "--help"], check=True, capture_output=True, text=True).stdout


commands = re.findall(r"^  ([a-z]+)  ", ask().split("Subcommands:")[1], re.M)
helped = set()
for command in commands:
    for names in re.findall(r"^  (-\S+)", ask(command), re.M):
        helped |= {re.sub(r"\{.*", "", name) for name in names.split(",")}
described = set()
text = open(page, encoding="utf-8").read()
for item in re.findall(r"^\.It (Fl .*)", text, re.M):
    described |= {"-" + name for name in re.findall(r"Fl (-?[A-Za-z][-a-z]*)", item)}
bad = [f"{name} is in --help, but not in {page}" for name in sorted(helped - described)]
bad += [f"{name} is in {page}, but not in --help" for name in sorted(described - helped)]
bad += [f"{page} has no section on {name}" for name in commands if f"\n.Ss {name}\n" not in text]
if len(helped) < 15:
    bad.append(f"only {len(helped)} options found in --help: has its form changed?")
if bad:
    sys.exit("\n".join(bad))
