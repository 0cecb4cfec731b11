#!/usr/bin/env python3
"""examples/fleet, the second way: sonicreport -> Kafka -> two servers of ClickHouse. Eight hosts' records, one
producer killed half-way and run again, one server killed while records come and started again: the sums and
percentiles are those of `sonicreport top`, each one.

  kafka_test.py SONICREPORT BROKERS EXAMPLE
"""
import concurrent.futures
import json
import os
import signal
import subprocess
import sys

import dashboard
import logs
from components import ClickHouse, Servers, free_port, need, wait_until

sonicreport, brokers, example = sys.argv[1:]
need("clickhouse-server")
TOPIC = "sonictrace.calls"


def export(host, log, addresses, **options):
    return subprocess.Popen([sonicreport, "export", "--to", f"kafka://{addresses}/{TOPIC}", "--run-id", "release-17",
                             "--host", f"host{host}", log], stderr=subprocess.PIPE, text=True, **options)


def finished(process):
    said = process.communicate(timeout=100)[1]
    assert process.returncode == 0, said
    return said


with Servers() as servers:
    paths = [servers.path(f"host{host}.log") for host in range(logs.HOSTS)]
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        list(pool.map(logs.write_log, paths, range(logs.HOSTS)))
    cluster = servers.start("brokers", brokers, TOPIC, "8", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    addresses = cluster.stdout.readline().strip()
    ports = [(free_port(), free_port()) for _ in range(2)]
    shards = [ClickHouse(servers, number, ports, example) for number in range(2)]
    for file, replaced in (("tables.sql", ()), ("kafka.sql", (("kafka-1:9092,kafka-2:9092", addresses),))):
        for shard in shards:
            shard.run_file(os.path.join(example, "clickhouse", file), replaced)

    def sums(question, table):
        return sum(int(shard.query(f"SELECT {question} FROM sonictrace.{table}")) for shard in shards)

    # Host 0: killed when something of it has arrived, and then all of it.
    with open(paths[0], "rb") as file:
        half = file.read(os.path.getsize(paths[0]) // 2)
    producer = export(0, "-", addresses, stdin=subprocess.PIPE)
    producer.stdin.buffer.write(half)
    producer.stdin.flush()
    wait_until("records of the first producer", lambda: sums("count()", "records_local"))
    producer.send_signal(signal.SIGKILL)
    producer.wait()
    killed_after = sums("count()", "records_local")

    shards[1].process.kill()
    shards[1].process.wait()
    expected = logs.FUNCTIONS * logs.INTERVALS
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for said in pool.map(lambda host: finished(export(host, paths[host], addresses)), range(logs.HOSTS)):
            assert f"{expected:,} records delivered, 0 dropped" in said, said
    in_all = expected * logs.HOSTS
    wait_until("records for the server that is there", lambda: int(shards[0].query(
        "SELECT count() FROM sonictrace.records_local")))
    shards[1].start()
    wait_until("all records", lambda: sums("uniqExact(host, seq)", "records_local") == in_all, 90)
    came = sums("countMerge(records)", "hours_local")
    assert came > in_all, f"nothing came twice ({came})"

    top = json.loads(subprocess.run([sonicreport, "top", "--format", "json", "-n", "100000", *paths], check=True,
                                    capture_output=True).stdout)
    with open(os.path.join(example, "clickhouse", "top.sql"), encoding="utf-8") as file:
        question = file.read()
    wanted = {(row["function"], row["lib"]): (row["calls"], row["total_ns"], row["self_ns"], row["max_ns"],
                                              row["p99_ns"]) for row in top}
    for shard in shards:
        rows = {(row["func"], row["lib"]): (row["all_calls"], row["all_ns"], row["all_self_ns"], row["longest_ns"],
                                            row["p99_ns"]) for row in shard.rows(question)}
        differ = [(name, rows.get(name), wanted.get(name)) for name in rows.keys() | wanted.keys()
                  if rows.get(name) != wanted.get(name)]
        assert len(wanted) == logs.FUNCTIONS and not differ, (len(wanted), len(differ), differ[:3])
    assert all(sums("count()", "hours_local") for shard in shards)
    queries = dashboard.run_clickhouse(example, shards[0])
    print(f"{came} records came, {came - in_all} of them twice ({killed_after} before the kill); "
          f"{len(wanted)} functions equal to top; {queries} queries of the dashboard")
