#!/usr/bin/env python3
"""What sonicreport draws, looked at in a browser: pages, flame graphs and timelines by themselves, and
in speedscope.

  report_browser_test.py SONICREPORT PACKAGES CASE [DIRECTORY]

With DIRECTORY, the screenshots are kept there.
"""
import base64
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

from browser import Browser, npm_packages

sonicreport, packages, case = sys.argv[1:4]
keep = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
browser = Browser()

LONG = "std::__detail::_Map_base<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, " \
       "std::pair<std::__cxx11::basic_string<char> const, int>, true>::operator[]"


def report(*arguments):
    done = subprocess.run([sonicreport, *map(str, arguments)], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def made_log():
    """Four threads; calls of all classes and of no time, nested, with names that must be escaped."""
    log = browser.work / "run.log"
    lines, now = [], 36_000_000_000

    def call(tid, name, begin, spent):
        second, part = divmod(begin, 1_000_000)
        stamp = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{part:06}"
        lines.append(f"{stamp}{tid} {name}(1) = 0 <{spent // 1_000_000}.{spent % 1_000_000:06}>")

    for i in range(400):
        tid = ("", "/4712", "/4713", "/4714")[i % 4]
        for name, at, spent in (("malloc", 3, 0), ("free", 3, 0), (LONG, 3, 40), ("read", 50, 30 + i % 9),
                                ("pthread_cond_wait", 90, 200), ("f<a&b>", 300, 0)):
            call(tid, name, now + at, spent)
        call(tid, "outer", now + 1, 320)
        call(tid, "strlen", now + 325, 0)
        now += 400
    lines.append("10:00:00.170000/4714 --- SIGUSR1 (User defined signal 1) ---")
    for name in ("malloc", "free", "read", "outer"):
        lines.append(f"+++ {name} is in libc.so.6 +++")
    log.write_text("\n".join(lines) + "\n")
    return log


def page_of(svg):
    return f"<!DOCTYPE html><html><body style='margin:0'>{svg}</body></html>"


# Labels that are wider than their boxes; boxes that are outside of the one that they are drawn in.
LABELS = """
  const boxes = [...document.querySelectorAll('svg svg')].filter((box) => box.querySelector(':scope > rect'));
  const wide = boxes.filter((box) => {
    const text = box.querySelector(':scope > text');
    return text && text.textContent && text.getBBox().width + 3 > +box.getAttribute('width') + 1;
  });
"""


def test_a_page_on_wide_and_narrow_screens():
    log = made_log()
    text = report("html", log).decode()
    for width in (1280, 500):
        answer = browser.ask(text, LABELS + """
          const rows = [...document.querySelectorAll('tr')];
          return { sections: [...document.querySelectorAll('h2')].map((one) => one.textContent),
                   functions: document.querySelectorAll('#s0 tr').length - 1,
                   tallest: Math.max(...rows.map((row) => row.getBoundingClientRect().height)),
                   page: document.documentElement.scrollWidth, window: innerWidth,
                   pictures: [...document.querySelectorAll('section > div > svg')].map(
                       (one) => one.getBoundingClientRect().width),
                   boxes: boxes.length, wide: wide.map((one) => one.textContent),
                   links: [...document.querySelectorAll('nav a')].filter(
                       (one) => !document.querySelector(one.getAttribute('href'))).length,
                   loaded: performance.getEntriesByType('resource').length };""", (width, 900))
        assert {"Functions", "Libraries", "Classes", "Threads", "Flame graph", "Timeline"} <= set(answer["sections"]), answer
        assert answer["functions"] == 8, answer
        # Two lines for the long name, and not one for each letter.
        assert answer["tallest"] < 120, (width, answer)
        assert answer["page"] <= answer["window"], (width, answer)  # wide tables scroll by themselves
        assert answer["boxes"] > 20 and not answer["wide"], answer
        assert len(answer["pictures"]) == 2 and min(answer["pictures"]) >= 1200, answer  # else nobody can read them
        assert answer["links"] == 0 and answer["loaded"] == 0, answer


def test_a_page_in_light_and_in_dark():
    page = browser.work / "report.html"
    report("html", "-o", page, made_log())
    for name, dark, background in (("light", 1, (255, 255, 255)), ("dark", 0, (0x16, 0x18, 0x1c))):
        counts = browser.picture(page.as_uri(), (1240, 2400), [f"--blink-settings=preferredColorScheme={dark}"],
                                 keep and keep / f"html-{name}.png")
        pixels = sum(counts.values())
        assert counts[background] > pixels / 2, (name, counts.most_common(3))
        # cpu, wait and io are drawn, in one of three shades each.
        for shades in (((0xf0, 0xb0, 0x49), (0xf5, 0xc2, 0x6b), (0xe8, 0xa2, 0x2e)),
                       ((0x7c, 0xc0, 0xea), (0x98, 0xcf, 0xf0), (0x62, 0xb2, 0xe2)),
                       ((0x4f, 0xbf, 0x9a), (0x6f, 0xcd, 0xad), (0x35, 0xb0, 0x88))):
            assert sum(counts[shade] for shade in shades) > 1000, (name, shades, counts.most_common(12))


def test_a_flame_graph_zooms_and_searches():
    log = made_log()
    answer = browser.ask(page_of(report("flame", log).decode()), LABELS + """
      const box = (name) => boxes.find((one) => one.querySelector('title').textContent.startsWith(name));
      const width = (one) => one.getBoundingClientRect().width;
      const all = width(box('all')), before = width(box('outer'));
      const label = box('outer').querySelector(':scope > text').textContent;
      box('outer').dispatchEvent(new MouseEvent('click', { bubbles: true }));
      const zoomed = width(box('outer'));
      box('all').dispatchEvent(new MouseEvent('click', { bubbles: true }));
      return { boxes: boxes.length, all, before, zoomed, after: width(box('outer')), label, wide: wide.length };""")
    assert answer["boxes"] > 20 and answer["wide"] == 0, answer
    assert 1000 < answer["all"] < 1280, answer
    assert answer["before"] < 0.3 * answer["all"], answer  # a quarter of the time, in four threads
    assert abs(answer["zoomed"] - answer["all"]) < 2, answer
    assert abs(answer["after"] - answer["before"]) < 1, answer
    assert answer["label"] == "outer", answer
    svg = browser.work / "flame.svg"
    report("flame", "-o", svg, log)
    counts = browser.picture(svg.as_uri(), (1220, 300), (), keep and keep / "flame.png")
    assert len(counts) > 20 and counts[(0xa9, 0xb0, 0xb8)] > 20_000, counts.most_common(5)  # the threads


def test_a_timeline_has_its_calls_where_they_were():
    log = made_log()
    answer = browser.ask(page_of(report("timeline", "--format", "svg", "--window", "0s:20ms", log).decode()), LABELS + """
      const waits = boxes.filter((one) => one.querySelector('title').textContent.startsWith('pthread_cond_wait'))
                         .map((one) => one.getBoundingClientRect());
      return { waits: waits.map((one) => [one.left, one.width]), wide: wide.length,
               rows: new Set(waits.map((one) => one.top)).size };""")
    waits = sorted(answer["waits"])
    assert len(waits) == 50 and answer["rows"] == 4 and answer["wide"] == 0, answer
    steps = [b[0] - a[0] for a, b in zip(waits, waits[1:])]
    assert max(steps) - min(steps) < 0.1, steps  # one begins every 400 us
    assert all(abs(one[1] / steps[0] - 0.5) < 0.01 for one in waits), answer  # and takes 200


def test_bars_in_a_terminal_are_as_long_as_the_numbers():
    log = made_log()
    plot = report("top", "--plot", log).decode()
    lines = [line for line in plot.splitlines() if "%  " in line]
    spans = "".join(f"<div>{html.escape(line[:line.rindex('%') + 3])}<b>{line[line.rindex('%') + 3:]}</b></div>"
                    for line in lines)
    answer = browser.ask(f"<html><body style='margin:0'><pre style='font:12px \"DejaVu Sans Mono\"'>{spans}"
                         "<i>0123456789</i></pre></body></html>", """
      return { cell: document.querySelector('i').getBoundingClientRect().width / 10,
               bars: [...document.querySelectorAll('b')].map((one) => [one.getBoundingClientRect().left,
                                                                         one.getBoundingClientRect().width]) };""")
    assert len(lines) == 8, plot
    cell = answer["cell"]
    lefts = {round(left / cell, 2) for left, width in answer["bars"] if width > 0}
    assert len(lefts) == 1, answer
    assert max(left + width for left, width in answer["bars"]) <= 100.1 * cell, answer
    shares = [float(re.search(r"([\d.]+)%", line)[1]) for line in lines]
    longest = answer["bars"][0][1]
    for share, (_, width) in zip(shares, answer["bars"]):
        assert abs(width - longest * share / shares[0]) <= 1.5 * cell, (share, width, longest)


def in_speedscope(name, data, picture=None):
    """What speedscope shows of a profile: text, and its complaints."""
    site = browser.work / "speedscope"
    if not site.exists():
        shutil.copytree(npm_packages.node_modules(packages) / "speedscope" / "dist" / "release", site)
    script = browser.work / "profile.js"
    script.write_text(f"speedscope.loadFileFromBase64({json.dumps(name)}, \"{base64.b64encode(data).decode()}\")")
    page = f"{(site / 'index.html').as_uri()}#localProfilePath={str(script)[1:]}"
    dom, console = browser.dom(page)
    if picture and keep:
        browser.picture(page, options=("--virtual-time-budget=20000",), keep=keep / picture)
    wrong = [line for line in console if re.search("Tried to|Failed|wrong|Error|not supported", line)]
    assert not wrong and "Something went wrong" not in dom, (wrong[:5], len(wrong))
    return html.unescape(re.sub(r"<[^>]+>", " ", dom[dom.index("<body"):]))


def durations(text):
    """Of the list of profiles: `first thread 93.52ms`."""
    unit = {"s": 1e6, "ms": 1e3, "µs": 1}
    return {name.strip(): float(number) * unit[short]
            for name, number, short in re.findall(r"\b\d+\s{2,}(\S.*?)\s{2,}([\d.]+)(s|ms|µs)", text)}


def test_speedscope_shows_flame_graphs():
    log = made_log()
    scope = report("flame", "--format", "speedscope", log)
    expected = {one["name"]: sum(one["weights"]) for one in json.loads(scope)["profiles"]}
    shown = durations(in_speedscope("run.speedscope.json", scope, "speedscope-flame.png"))
    assert shown.keys() == expected.keys() and len(shown) == 4, (shown, expected)
    for name in shown:
        assert abs(shown[name] - expected[name]) < 0.01 * expected[name], (name, shown, expected)
    assert "run.folded.txt" in in_speedscope("run.folded.txt", report("flame", "--format", "folded", log))


def test_speedscope_shows_timelines():
    shown = durations(in_speedscope("run.json", report("timeline", "--format", "chrome", made_log()),
                                    "speedscope-timeline.png"))
    assert len(shown) == 4, shown
    # A hundred times around in each thread: outer, which has all others but strlen, inside.
    for name, spent in shown.items():
        assert abs(spent - 100 * 320) < 10, (name, shown)


globals()["test_" + case]()
print("ok")
