#!/usr/bin/env python3
"""The pictures of sonicreport, read by others: XML by ElementTree, JSON, protobuf by protoc where it is there.

  report_pictures_test.py SONICREPORT PROTO
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

program, proto = sys.argv[1:]
directory = tempfile.TemporaryDirectory()
log = os.path.join(directory.name, "log")
with open(log, "wb") as file:
    for i in range(2000):
        file.write(b"10:00:00.%06d/%d f%d<\xff&;>'(1) = 0 <0.%06d>\n" % (i * 40, 7 + i % 3, i % 50, i % 7))
        if i % 10 == 9:
            file.write(b"10:00:00.%06d/%d outer(1) = 0 <0.%06d>\n" % (max(i - 8, 0) * 40 + 1, 7 + i % 3, 300))


def run(*arguments):
    return subprocess.run([program, *arguments, log], check=True, capture_output=True).stdout


SVG = "{http://www.w3.org/2000/svg}"
root = ElementTree.fromstring(run("flame", "--min-width", "0.01"))
boxes = {}
for box in root.iter(SVG + "svg"):
    if box.get("data-l") is not None:
        assert box.find(SVG + "title").text, "a box without a title"
        left = float(box.get("x"))
        boxes.setdefault(int(box.get("data-l")), []).append((left, left + float(box.get("width"))))
assert len(boxes) >= 4, boxes.keys()
for level in range(1, len(boxes)):
    for left, right in boxes[level]:
        assert any(a - 1e-6 <= left and right <= b + 1e-6 for a, b in boxes[level - 1]), (level, left, right)

self_us = sum(row["self_ns"] for row in json.loads(run("top", "--format", "json"))) / 1000
folded = sum(int(line.rsplit(b" ", 1)[1]) for line in run("flame", "--format", "folded").splitlines())
assert folded == self_us > 0, (folded, self_us)

# https://www.speedscope.app/file-format-schema.json: what a sampled profile must have.
scope = json.loads(run("flame", "--format", "speedscope"))
assert scope["$schema"] == "https://www.speedscope.app/file-format-schema.json"
for profile in scope["profiles"]:
    assert profile["type"] == "sampled" and profile["unit"] == "microseconds"
    assert len(profile["samples"]) == len(profile["weights"])
    assert all(0 <= frame < len(scope["shared"]["frames"]) for stack in profile["samples"] for frame in stack)
    assert abs(profile["endValue"] - profile["startValue"] - sum(profile["weights"])) < 1e-6
assert abs(sum(sum(p["weights"]) for p in scope["profiles"]) - self_us) < 1e-6

calls = len([e for e in json.loads(run("timeline", "--format", "chrome"))["traceEvents"] if e["ph"] == "X"])
assert calls == 2200, calls
ElementTree.fromstring(run("timeline", "--format", "svg"))
page = run("html").decode()
ElementTree.fromstring(page.replace("<!DOCTYPE html>", ""))
assert "http://" not in page.replace("http://www.w3.org/2000/svg", "") and "https://" not in page

if shutil.which("protoc"):
    text = subprocess.run(
        ["protoc", "--decode=sonictrace.test.Trace", "-I", os.path.dirname(proto), proto],
        input=run("timeline"), check=True, capture_output=True).stdout.decode()
    begins, ends = text.count("TYPE_SLICE_BEGIN"), text.count("TYPE_SLICE_END")
    assert begins == ends == calls, (begins, ends)
    unknown = [line for line in text.splitlines() if line.strip()[:1].isdigit()]
    assert not unknown, unknown[:3]
print("ok")
