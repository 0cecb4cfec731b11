"""Servers for a test, on free ports of 127.0.0.1: each is started, waited for, and ended with the test."""
import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request


def need(*programs):
    """Ends the test as skipped (77) where one is not installed."""
    for program in programs:
        if not shutil.which(program):
            print(f"{program} is not installed (.ci/install fleet)")
            sys.exit(77)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_until(what, condition, seconds=60):
    """What the condition gives, as soon as it is something. Servers that others talk to tell nobody."""
    limit = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > limit:
            sys.exit(f"waited {seconds} s for {what}")
        time.sleep(0.1)


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def ask(url, body=None, headers=None):
    """The answer's text; nothing where there is none. What the server says of a mistake ends the test."""
    try:
        request = urllib.request.Request(url, data=body, headers=headers or {})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        sys.exit(f"{url}: {error.code}: {error.read().decode()[:2000]}")
    except OSError:
        return None


class Servers(contextlib.ExitStack):
    """Starts servers; ends them, the last one first, and removes their directory."""

    def __init__(self):
        super().__init__()
        self.directory = self.enter_context(tempfile.TemporaryDirectory())
        self.processes = []

    def path(self, *names):
        path = os.path.join(self.directory, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def start(self, name, *command, **options):
        """A process whose output is in NAME.log."""
        log = self.enter_context(open(self.path(f"{name}.log"), "wb"))
        options.setdefault("stdout", log)
        process = subprocess.Popen(command, stderr=log, preexec_fn=end_with_parent, **options)
        self.callback(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()  # what it would save on the way out goes with the directory
        process.wait()

    def said(self, name):
        with open(self.path(f"{name}.log"), encoding="utf-8", errors="replace") as file:
            return file.read()[-3000:]

    def start_http(self, name, path, *command):
        """Waits until it answers at PATH, a whole URL."""
        process = self.start(name, *command)

        def answers():
            if process.poll() is not None:
                sys.exit(f"{name} has ended: {self.said(name)}")
            with contextlib.suppress(OSError), urllib.request.urlopen(path, timeout=5):
                return True

        wait_until(f"{name}: {self.said(name)}", answers)
        return process


class ClickHouse:
    """One of the servers of a cluster on this machine."""

    def __init__(self, servers, number, ports, examples):
        self.http, tcp = ports[number]
        name = f"clickhouse-{number}"
        config = servers.write(f"{name}/config.xml", f"""<yandex>
  <logger><level>warning</level><log>{servers.path(name, "log")}</log></logger>
  <http_port>{self.http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
  <path>{servers.path(name, "data")}/</path><tmp_path>{servers.path(name, "tmp")}/</tmp_path>
  <users_config>users.xml</users_config><default_profile>default</default_profile>
  <default_database>default</default_database><mark_cache_size>100000000</mark_cache_size>
</yandex>""")
        servers.write(f"{name}/users.xml", """<yandex>
  <profiles><default><max_memory_usage>1000000000</max_memory_usage>
  <stream_flush_interval_ms>500</stream_flush_interval_ms></default></profiles>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
  <quota>default</quota></default></users><quotas><default></default></quotas>
</yandex>""")
        # The example's own files, with these servers' addresses.
        with open(os.path.join(examples, "clickhouse", "cluster.xml"), encoding="utf-8") as file:
            cluster = file.read()
        for other, (_, port) in enumerate(ports):
            cluster = cluster.replace(f"<host>clickhouse-{other + 1}</host><port>9000</port>",
                                      f"<host>127.0.0.1</host><port>{port}</port>")
        servers.write(f"{name}/config.d/cluster.xml", cluster)
        # A reader that was killed is missed sooner than after 45 s.
        servers.write(f"{name}/config.d/kafka.xml",
                      "<yandex><kafka><session_timeout_ms>6000</session_timeout_ms></kafka></yandex>")
        shutil.copy(os.path.join(examples, "clickhouse", "profile.xml"), servers.path(name, "users.d", "profile.xml"))
        self.start = lambda: servers.start_http(name, f"http://127.0.0.1:{self.http}/ping", "clickhouse-server",
                                                f"--config-file={config}")
        self.process = self.start()

    def query(self, text):
        answer = ask(f"http://127.0.0.1:{self.http}/?output_format_json_quote_64bit_integers=0", text.encode())
        if answer is None:
            sys.exit(f"no answer to: {text}")
        return answer

    def rows(self, text):
        """Objects, numbers as numbers."""
        answer = self.query(f"{text}\nFORMAT JSONEachRow")
        return [json.loads(line) for line in answer.splitlines()]

    def run_file(self, path, replaced=()):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for old, new in replaced:
            if old not in text:
                sys.exit(f"{path}: no {old}")
            text = text.replace(old, new)
        lines = [line for line in text.splitlines() if not line.startswith("--")]
        for statement in "\n".join(lines).split(";"):
            if statement.strip():
                self.query(statement)
