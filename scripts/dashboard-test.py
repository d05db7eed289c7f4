#!/usr/bin/env python3
"""Looks at the dashboard and the alert rules with live figures: a real Prometheus reads a host under load.

    scripts/dashboard-test.py [WED] [--svg FILE]

The host runs on the database that DATABASE_URL names, or on the private Postgres. Every panel must draw something, and
every series that a rule looks at must be there, except for those that only an event makes. It takes Debian's package
`prometheus`. `--svg` draws the panels as they stand.
"""

import argparse
import html
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

# Series that are there only after an event, and that event.
EVENTS = {
    "wedflow_lock_wait_seconds": "a session waits for another one's lock",
    "wedflow_exceptions": "an instance is an exception",
    "wedflow_webhook_messages": "a webhook has messages to deliver",
    "wedflow_schedule_lateness_seconds": "a flow has a schedule",
    "wedflow_problems": "`wed status` lists a problem",
    "wedflow_circuits_open": "a host has opened a circuit breaker",
    "wedflow_pauses": "somebody has paused something",
}
MONITORING = Path(__file__).resolve().parent.parent / "packaging/monitoring"
WAIT_SECONDS = 240


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(prometheus, path, **arguments):
    url = f"http://127.0.0.1:{prometheus}/api/v1/{path}?{urllib.parse.urlencode(arguments)}"
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)["data"]["result"]


def eventually(what, look):
    until = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            found = look()
        except OSError:
            found = None
        if found:
            return found
        if time.monotonic() > until:
            sys.exit(f"waited {WAIT_SECONDS} s for: {what}")
        time.sleep(0.5)


def panels():
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    return [(one["title"], one["targets"][0]["expr"]) for one in dashboard["panels"]]


def rule_expressions():
    """The rules' names and conditions; their strings are JSON's."""
    text = (MONITORING / "alerts.yml").read_text()
    return [(name, json.loads(expression)) for name, expression in
            re.findall(r"- alert: (\w+)\n +expr: (.*)\n", text)]


def check(prometheus):
    """Returns what is missing, after telling of each expression."""
    missing = []
    for title, expression in panels():
        series = re.search(r"wedflow_\w+", expression).group()
        found = ask(prometheus, "query", query=expression)
        event = EVENTS.get(series)
        if not found and not event:
            missing.append(f"panel `{title}`: {expression}")
        value = ", ".join(f"{one['metric'] or ''} {float(one['value'][1]):g}".strip() for one in found[:3])
        print(f"{value or 'nothing; ' + str(event) + '?':60.60}  {expression}")
    for name, expression in rule_expressions():
        for series in sorted(set(re.findall(r"wedflow_\w+", expression))):
            if not ask(prometheus, "query", query=series) and series not in EVENTS:
                missing.append(f"rule {name}: {series}")
        ask(prometheus, "query", query=expression)
    return missing


def draw(prometheus, file, begun):
    """Draws each panel's lines since the beginning, three panels in a row."""
    width, height, columns = 400, 130, 3
    now = time.time()
    parts = []
    for at, (title, expression) in enumerate(panels()):
        x, y = at % columns * width, at // columns * height
        lines = ask(prometheus, "query_range", query=expression, start=begun, end=now, step=2)
        values = [[(float(t), float(v)) for t, v in line["values"] if v != "NaN"] for line in lines]
        highest = max((v for line in values for _, v in line), default=0)
        most = highest or 1
        parts.append(f'<text x="{x + 8}" y="{y + 16}">{html.escape(title[:58])}</text>')
        parts.append(f'<text x="{x + 8}" y="{y + 30}" class="n">up to {highest:g}, {len(lines)} series</text>')
        for number, line in enumerate(values):
            points = " ".join(
                f"{x + 8 + (t - begun) / (now - begun) * (width - 20):.1f},{y + height - 12 - v / most * (height - 50):.1f}"
                for t, v in line)
            parts.append(f'<polyline points="{points}" style="stroke:hsl({number * 67 % 360} 60% 45%)"/>')
    rows = (len(panels()) + columns - 1) // columns
    style = "text{font:11px sans-serif;fill:#333}.n{fill:#777}polyline{fill:none;stroke-width:1.5}"
    Path(file).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * columns}" height="{height * rows}"><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n')


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("wed", nargs="?", default="target/release/wed")
    arguments.add_argument("--svg")
    arguments = arguments.parse_args()
    for program in ["prometheus", "promtool"]:
        if not shutil.which(program):
            print(f"skipped: {program} is not here (Debian's package prometheus)")
            return 0
    subprocess.run(["promtool", "check", "rules", MONITORING / "alerts.yml"], check=True)
    figures, prometheus = free_port(), free_port()
    running = []
    with tempfile.TemporaryDirectory(prefix="wedflow-dashboard-") as folder:
        try:
            settings = Path(folder, "prometheus.yml")
            settings.write_text(
                f"global: {{scrape_interval: 5s, scrape_timeout: 5s, evaluation_interval: 5s}}\nrule_files: ['{MONITORING}/alerts.yml']\n"
                f"scrape_configs: [{{job_name: wedflow, static_configs: [{{targets: ['127.0.0.1:{figures}']}}]}}]\n")
            # The demo leaves its flow and component, and starts the private Postgres where no database is named.
            subprocess.run([arguments.wed, "--quiet", "demo", "counters"], check=True, stdout=subprocess.DEVNULL)
            running.append(subprocess.Popen(
                [arguments.wed, "--quiet", "serve", "--lanes", "1", "--metrics", f"127.0.0.1:{figures}"],
                stderr=subprocess.DEVNULL))
            running.append(subprocess.Popen(
                ["prometheus", f"--config.file={settings}", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{prometheus}", "--log.level=error"]))
            eventually("the host's figures", lambda: ask(prometheus, "query", query="wedflow_hosts > 0"))
            begun = time.time()
            done = "sum(rate(wedflow_transitions_committed_total[1m]))"
            flow = json.loads(subprocess.run([arguments.wed, "--json", "flow", "list"], check=True,
                                             capture_output=True, text=True).stdout)[0]["name"]
            for _ in range(5):
                subprocess.run([arguments.wed, "--quiet", "instance", "start", flow, "--wait"], check=True,
                               stdout=subprocess.DEVNULL)
            eventually("commits", lambda: ask(prometheus, "query", query=f"{done} > 0"))
            eventually("a 99th percentile", lambda: ask(
                prometheus, "query", query="sum(rate(wedflow_commit_batch_results_count[1m])) > 0"))
            missing = check(prometheus)
            if arguments.svg:
                draw(prometheus, arguments.svg, begun)
        finally:
            for process in reversed(running):
                process.terminate()
                process.wait()
    for one in missing:
        print(f"no data: {one}", file=sys.stderr)
    print(f"{len(panels())} panels and {len(rule_expressions())} rules looked at, {len(missing)} without data")
    return 1 if missing else 0


sys.exit(main())
