"""The queries of the example's dashboard, against live servers."""
import json
import os
import sys
import urllib.parse

from components import ask, wait_until
from logs import BEGIN


def targets(example, kind):
    with open(os.path.join(example, "grafana", "sonictrace.json"), encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    for panel in panels:
        for target in panel.get("targets", ()):
            if target["datasource"]["type"] == kind:
                yield panel["title"], target


def run_clickhouse(example, server):
    """How many there were; each gives rows."""
    number = 0
    for title, target in targets(example, "grafana-clickhouse-datasource"):
        text = target["rawSql"]
        for macro, replaced in (("$__timeFilter(ts)", f"ts >= toDateTime({BEGIN}) AND ts <= toDateTime({BEGIN + 100})"),
                                ("${host:singlequote}", "'host0','host1'"), ("${function:singlequote}", "'fn0001','fn0002'")):
            text = text.replace(macro, replaced)
        if "$" in text:
            sys.exit(f"{title}: a variable that is not known: {text}")
        if not server.rows(text):
            sys.exit(f"{title}: no rows: {text}")
        number += 1
    return number


def run_prometheus(example, url):
    """The same for what speaks Prometheus' language at URL."""
    number = 0
    for title, target in targets(example, "prometheus"):
        expression = target["expr"].replace("$host", ".*").replace("$function", ".*")
        if "$" in expression:
            sys.exit(f"{title}: a variable that is not known: {expression}")
        wait_until(f"rows of {title} in {url}: {expression}",
                   lambda: json.loads(ask(f"{url}/api/v1/query?query={urllib.parse.quote(expression)}"))["data"]["result"])
        number += 1
    return number
