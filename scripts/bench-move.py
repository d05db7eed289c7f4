#!/usr/bin/python3
"""Measures for how long a tenant rests while it moves from one cluster to another, under load: a host works on both, a
client starts instances all the time. Both clusters are databases of one throw-away server.

SIZES=1000,10000,100000   instances that the tenant has, each with a pending job and a row of history
ROUNDS=5                  moves of each size, to and fro"""

import json
import os
import threading
import time
from statistics import median

import psycopg2

from servers import Client, Server, at, bring_flow, end, need_programs, scratch, start_host, wed

PARKED = """name = "parked"
final = "n >= 1"
[[attribute]]
name = "n"
type = "integer"
default = "0"
[[attribute]]
name = "note"
default = ""
[[trigger]]
name = "later"
when = "n < 1"
transition = "step"
delay = "7 days"
"""
SIZES = [int(size) for size in os.environ.get("SIZES", "1000,10000,100000").split(",")]
ROUNDS = int(os.environ.get("ROUNDS", "5"))


def measure(directory, size, places):
    """Parks instances, and moves the tenant to and fro; the first place is where it is."""
    url = wed(directory, "flow", "url", "parked", tenant="acme")
    connection = psycopg2.connect(url)
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM wed_flow")
        cursor.execute("INSERT INTO wed_flow (note) SELECT repeat('x', 200) FROM generate_series(1, %s)",
                       (size - cursor.fetchone()[0],))
    connection.close()
    pauses, rows = [], 0
    for _ in range(ROUNDS):
        time.sleep(2)
        source, target = places
        places.reverse()
        moved = json.loads(wed(directory, "--json", "tenant", "move", "acme", "--to-cluster", target))
        wed(directory, "tenant", "delete", "acme", "--left-at", source, "--yes")
        pauses.append(moved["pause_ms"] / 1000)
        rows = moved["checksum"]["trace"]["rows"]
    print(f"{size:>9} {rows:>9} {median(pauses):>14.2f} {max(pauses):>9.2f}", flush=True)


def run(folder, server):
    one, two = server.url("one"), server.url("two")
    directory, host, stops = {"WEDFLOW_DIRECTORY": server.url("directory")}, None, threading.Event()
    try:
        for name, url in (("one", one), ("two", two)):
            wed(at(url), "migrate")
            wed(directory, "cluster", "add", name, "--url", url)
        wed(directory, "tenant", "create", "acme", "--cluster", "one")
        bring_flow(directory, tenant="acme")
        parked = folder / "parked.toml"
        parked.write_text(PARKED)
        wed(directory, "flow", "apply", parked, tenant="acme")
        host = start_host(directory, cwd=folder)
        client = Client(lambda: wed(directory, "flow", "url", "counters", tenant="acme"), stops)
        client.start()
        print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; {ROUNDS} moves of each size")
        print(f"{'instances':>9} {'history':>9} {'rested, p50 s':>14} {'most, s':>9}")
        places = ["one", "two"]
        for size in SIZES:
            measure(directory, size, places)
        stops.set()
        client.join()
        print(f"{len(client.started)} instances were started meanwhile")
    finally:
        stops.set()
        if host:
            end(host)


def main():
    need_programs()
    with scratch("move") as folder:
        server = Server(folder, ["max_wal_size=4GB"])
        try:
            run(folder, server.make().start())
        finally:
            server.stop()


if __name__ == "__main__":
    main()
