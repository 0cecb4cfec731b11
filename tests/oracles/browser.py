"""Pages in a real browser, without a window: what their scripts found out, and what they look like."""
import collections
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npm_packages  # noqa: E402


class Browser:
    def __init__(self):
        self.program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if not self.program:
            npm_packages.skip("chromium is not installed")
        self.directory = tempfile.TemporaryDirectory(prefix="report-pictures-", ignore_cleanup_errors=True)
        self.work = pathlib.Path(self.directory.name)

    def _run(self, page, size, options):
        command = [self.program, "--headless", "--no-sandbox", "--hide-scrollbars", "--use-gl=angle",
                   "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--enable-logging=stderr",
                   f"--user-data-dir={self.work / 'profile'}", f"--window-size={size[0]},{size[1]}", *options, page]
        done = subprocess.run(command, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done

    def dom(self, page, size=(1280, 900), options=("--virtual-time-budget=20000",)):
        """The page's DOM when its scripts have run, and what they have written to the console."""
        done = self._run(page, size, ["--dump-dom", *options])
        console = re.findall(r'CONSOLE[^"]*"(.*)", source', done.stderr.decode(errors="replace"))
        return done.stdout.decode(errors="replace"), console

    def ask(self, html, script, size=(1280, 900), options=()):
        """What the script, run in this page, returns, by JSON."""
        page = self.work / "asked.html"
        text = html.replace("</body>", "<script>addEventListener('load', () => { let answer; try { answer = (() => {"
                            + script + "})(); } catch (error) { answer = { failed: String(error) }; }"
                            "const out = document.createElement('pre'); out.id = 'answer';"
                            "out.textContent = JSON.stringify(answer); document.body.append(out); });</script></body>")
        assert text != html
        page.write_text(text, encoding="utf-8")
        dom, console = self.dom(page.as_uri(), size, ("--virtual-time-budget=20000", *options))
        found = re.search(r'<pre id="answer">(.*?)</pre>', dom, re.S)
        assert found, console
        answer = json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        assert not (isinstance(answer, dict) and "failed" in answer), answer
        return answer

    def picture(self, page, size=(1280, 900), options=(), keep=None):
        """How many pixels have which colour."""
        file = self.work / "picture.png"
        file.unlink(missing_ok=True)
        self._run(page, size, [f"--screenshot={file}", *options])
        if keep:
            shutil.copyfile(file, keep)
        return colours(file.read_bytes())


def colours(png):
    """Of a PNG with eight bits a channel that is not interlaced (PNG 1.2, 9.2: filters)."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    packed, at = b"", 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        data = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data)
            assert depth == 8 and colour in (2, 6) and not interlaced
        elif kind == b"IDAT":
            packed += data
        at += length + 12
    step = 3 if colour == 2 else 4
    raw = zlib.decompress(packed)
    row_size = width * step
    before = bytearray(row_size)
    counts = collections.Counter()
    for y in range(height):
        start = y * (row_size + 1)
        kind = raw[start]
        row = bytearray(raw[start + 1:start + 1 + row_size])
        if kind == 2:
            row = bytearray((a + b) & 255 for a, b in zip(row, before))
        elif kind:
            for i in range(row_size):
                left = row[i - step] if i >= step else 0
                above = before[i]
                corner = before[i - step] if i >= step else 0
                if kind == 1:
                    more = left
                elif kind == 3:
                    more = (left + above) // 2
                else:
                    guess = left + above - corner
                    more = min((left, above, corner), key=lambda one: abs(guess - one))
                row[i] = (row[i] + more) & 255
        counts.update(zip(row[0::step], row[1::step], row[2::step]))
        before = row
    return counts
