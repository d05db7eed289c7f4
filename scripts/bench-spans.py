#!/usr/bin/env python3
"""Measures what spans cost a host: `bench-spans.py [WED] [--rounds N] [--instances N]`.

A host of one lane runs the sample `counters` on the database that DATABASE_URL names (an empty one, made for this),
in interleaved rounds without a collector and with one that takes every span. Prints the host's computing time for each
row of the trace: times of processors, which other work on the machine changes little.
"""

import argparse
import http.server
import os
import statistics
import subprocess
import sys
import threading
import time

WARM_UP_SECONDS = 4


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes what is posted and counts its bytes."""

    taken = 0

    def do_POST(self):
        Collector.taken += len(self.rfile.read(int(self.headers.get("content-length", 0))))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def ask(url, statement):
    return int(subprocess.check_output(["psql", "-XqAt", url, "-c", statement], text=True).strip() or 0)


def computed(pid):
    """Seconds that a process has computed."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def round_of(wed, flow, environment, instances):
    """Runs instances to their ends; returns microseconds of computing for a row of the trace."""
    host = subprocess.Popen([wed, "--quiet", "serve", "--lanes", "1"], env=environment, stderr=subprocess.DEVNULL)
    try:
        time.sleep(WARM_UP_SECONDS)
        before, rows = computed(host.pid), ask(flow, "SELECT count(*) FROM wed_trace")
        ask(flow, f"INSERT INTO wed_flow SELECT FROM generate_series(1, {instances})")
        while ask(flow, "SELECT count(*) FROM job_pool"):
            time.sleep(0.5)
        rows = ask(flow, "SELECT count(*) FROM wed_trace") - rows
        return (computed(host.pid) - before) / rows * 1e6
    finally:
        host.terminate()
        host.wait()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("wed", nargs="?", default="target/release/wed")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--instances", type=int, default=1000)
    arguments = arguments.parse_args()
    if not os.environ.get("DATABASE_URL"):
        sys.exit("DATABASE_URL names no database; make an empty one for this")
    wed = arguments.wed
    for command in (["migrate"], ["demo", "counters"]):
        subprocess.run([wed, "--quiet", *command], check=True, stdout=subprocess.DEVNULL)
    flow = subprocess.check_output([wed, "flow", "url", "counters"], text=True).strip()
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{collector.server_port}"
    times = {"off": [], "on": []}
    for number in range(arguments.rounds):
        for mode in sorted(times, reverse=number % 2 == 1):
            environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
            if mode == "on":
                environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = address
            times[mode].append(round_of(wed, flow, environment, arguments.instances))
    print("spans  median µs  lowest  highest")
    for mode, found in times.items():
        print(f"{mode:5}  {statistics.median(found):9.1f}  {min(found):6.1f}  {max(found):7.1f}")
    print(f"{Collector.taken} bytes of spans sent")


main()
