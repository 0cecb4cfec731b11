#!/usr/bin/env python3
"""examples/fleet, the first way: textfile -> node-exporter -> Prometheus -> remote_write -> VictoriaMetrics, and a
baseline by a Pushgateway. Alerts fire for the host that they are to fire for, are silent for the other one, and
stop when a better run takes the place of the bad one.

  prometheus_test.py SONICREPORT EXAMPLE
"""
import json
import os
import subprocess
import sys
import threading
import urllib.parse

import dashboard
from components import Servers, ask, free_port, need, wait_until

sonicreport, example = map(os.path.abspath, sys.argv[1:])
need("promtool", "prometheus", "prometheus-node-exporter", "prometheus-pushgateway", "victoria-metrics")
configured = os.path.join(example, "prometheus")


def promtool(*arguments):
    ended = subprocess.run(["promtool", *arguments], cwd=configured, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


assert "SUCCESS" in promtool("test", "rules", "sonictrace.rules.test.yml")
promtool("check", "rules", "sonictrace.rules.yml")


def write_log(path, futex, reads, gap_us):
    """250 frames; so many futex and read; from the sound to the first frame so many us."""
    now = 1796009100_000000
    with open(path, "w", encoding="ascii") as log:
        def call(name, took):
            nonlocal now
            log.write(f"{now // 1_000_000}.{now % 1_000_000:06d} {name}(1) = 0 <0.{took:06d}>\n")
            now += took + 1

        call("avcodec_decode_audio4@libavcodec.so.59", 500)
        now += gap_us - 1
        call("generate_first_frame@sonic.so", 500)
        for _ in range(futex):
            call("futex@SYS", 40)
        for _ in range(reads):
            call("read@SYS", 7)
        for _ in range(250):
            call("generate_frame@sonic.so", 900)


def export(*arguments):
    ended = subprocess.run([sonicreport, "export", "--gap-from", "avcodec_decode_audio4", "--gap-to",
                            "generate_first_frame", *arguments], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


with Servers() as servers:
    bad, good = servers.path("bad.log"), servers.path("good.log")
    write_log(bad, 14763, 2000, 70_000)
    write_log(good, 1000, 1000, 50_000)
    textfiles = os.path.dirname(servers.path("textfiles", "x"))

    def leave(host, log):
        export("--to", "prometheus", "--host", host, "--run-id", os.path.basename(log),
               "--output", os.path.join(textfiles, f"sonictrace-{host}.prom"), log)

    leave("cam1", bad)
    leave("cam2", good)
    node, push, prometheus, victoria = (f"127.0.0.1:{free_port()}" for _ in range(4))
    servers.start_http("node-exporter", f"http://{node}/metrics", "prometheus-node-exporter",
                       f"--web.listen-address={node}", "--collector.disable-defaults", "--collector.textfile",
                       f"--collector.textfile.directory={textfiles}")
    servers.start_http("pushgateway", f"http://{push}/-/ready", "prometheus-pushgateway",
                       f"--web.listen-address={push}")
    servers.start_http("victoria-metrics", f"http://{victoria}/health", "victoria-metrics",
                       f"-httpListenAddr={victoria}", f"-storageDataPath={servers.path('victoria', 'data')}",
                       "-search.latencyOffset=1s")  # it would not show the last 30 s
    export("--to", "pushgateway", "--url", f"http://{push}", "--job", "sonictrace_baseline", "--host", "reference", good)

    with open(os.path.join(configured, "prometheus.yml"), encoding="utf-8") as file:
        config = file.read()
    for old, new in (("scrape_interval: 30s", "scrape_interval: 1s"), ("evaluation_interval: 30s", "evaluation_interval: 1s"),
                     ('"host-1:9100", "host-2:9100"', f'"{node}"'), ("pushgateway:9091", push),
                     ("victoria-metrics:8428", victoria), ("sonictrace.rules.yml", os.path.join(configured, "sonictrace.rules.yml"))):
        assert old in config, old
        config = config.replace(old, new)
    servers.start_http("prometheus", f"http://{prometheus}/-/ready", "prometheus",
                       f"--config.file={servers.write('prometheus.yml', config)}",
                       f"--storage.tsdb.path={servers.path('prometheus', 'data')}", f"--web.listen-address={prometheus}")

    def value(server, expression):
        """Of the only series; nothing where there is none."""
        answer = ask(f"http://{server}/api/v1/query?query={urllib.parse.quote(expression)}")
        result = json.loads(answer)["data"]["result"] if answer else []
        return [float(one["value"][1]) for one in result]

    def firing():
        alerts = json.loads(ask(f"http://{prometheus}/api/v1/alerts"))["data"]["alerts"]
        return sorted((one["labels"]["alertname"], one["labels"].get("host"), one["labels"].get("function"))
                      for one in alerts if one["state"] == "firing")

    expected = [("SonictraceCallsOverBaseline", "cam1", "futex"), ("SonictraceCallsOverBaseline", "cam1", "read"),
                ("SonictraceFutexPerFrame", "cam1", "futex"), ("SonictraceGap", "cam1", None),
                ("SonictraceSyscallsOverBaseline", "cam1", None)]
    wait_until("alerts", lambda: firing() == expected)
    # What Prometheus has is what top says, and what was written on to VictoriaMetrics too.
    for host, log in (("cam1", bad), ("cam2", good)):
        top = json.loads(subprocess.run([sonicreport, "top", "--format", "json", log], check=True,
                                        capture_output=True).stdout)
        for server in (prometheus, victoria):
            for row in top:
                labels = f'{{job="node",host="{host}",function="{row["function"]}",lib="{row["lib"]}"}}'
                wanted = ([row["calls"]], [row["self_ns"] / 1e9])
                wait_until(f"{labels} in {server}", lambda: wanted == (
                    value(server, "sonictrace_calls_total" + labels), value(server, "sonictrace_self_seconds_total" + labels)))
    wait_until("the recorded series", lambda: value(victoria, 'sonictrace:wait_share{host="cam1"}'))
    queries = sum(dashboard.run_prometheus(example, f"http://{server}") for server in (prometheus, victoria))

    export("--to", "prometheus", "--url", f"http://{victoria}/api/v1/import/prometheus", "--host", "posted", bad)
    wait_until("what was posted", lambda: value(
        victoria, 'sonictrace_calls_total{host="posted",function="futex"}') == [14763])

    # A file is replaced whole: whoever scrapes meanwhile finds one run or the other.
    writer = threading.Thread(target=lambda: [leave("cam1", log) for log in (bad, good) * 15])
    writer.start()
    scrapes = 0
    while writer.is_alive():
        seen = [line.rsplit(" ", 1)[1] for line in ask(f"http://{node}/metrics").splitlines()
                if line.startswith("sonictrace_calls_total{") and 'function="futex"' in line and 'host="cam1"' in line]
        assert seen in (["14763"], ["1000"]), seen
        scrapes += 1
    writer.join()

    wait_until("no alert", lambda: firing() == [])
    print(f"{len(expected)} alerts fired and stopped; {queries} queries of the dashboard; {scrapes} scrapes while writing")
