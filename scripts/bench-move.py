#!/usr/bin/python3
"""Measures for how long a tenant rests while it moves from one cluster to another, under load: a host works on both, a
client starts instances all the time. Both clusters are databases of one throw-away server.

SIZES=1000,10000,100000   instances that the tenant has, each with a pending job and a row of history
ROUNDS=5                  moves of each size, to and fro"""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import psycopg2

ROOT = Path(__file__).resolve().parent.parent
WED = ROOT / "target/release/wed"
COMPONENT = ROOT / "sample-transitions/target/wasm32-wasip2/release/counters.wasm"
FLOW = ROOT / "sample-transitions/counters/flow.toml"
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
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
ACCOUNT = pwd.getpwnam("postgres") if os.getuid() == 0 else None
SIZES = [int(size) for size in os.environ.get("SIZES", "1000,10000,100000").split(",")]
ROUNDS = int(os.environ.get("ROUNDS", "5"))


def as_account():
    if ACCOUNT:
        os.setgid(ACCOUNT.pw_gid)
        os.setuid(ACCOUNT.pw_uid)


def start_server(folder):
    if ACCOUNT:
        shutil.chown(folder, ACCOUNT.pw_uid, ACCOUNT.pw_gid)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    run = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder,
           "preexec_fn": as_account}
    subprocess.run([BINARIES[-1] / "initdb", "-D", folder / "data", "-U", "postgres", "--auth=trust", "--no-sync"],
                   check=True, **run)
    process = subprocess.Popen([BINARIES[-1] / "postgres", "-D", folder / "data", "-p", str(port), "-k", folder,
                                "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200",
                                "-c", "max_wal_size=4GB", "-c", "jit=off"], start_new_session=True, **run)
    base = f"postgres://postgres@127.0.0.1:{port}"
    for _ in range(300):
        try:
            psycopg2.connect(f"{base}/postgres").close()
            return process, base
        except psycopg2.Error:
            time.sleep(0.1)
    raise SystemExit("the server does not start")


def wed(directory, *arguments, tenant=None):
    command = [WED, *(["--tenant", tenant] if tenant else []), *arguments]
    done = subprocess.run(command, env={**os.environ, "WEDFLOW_DIRECTORY": directory}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"wed {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def load(directory, stops, started):
    """Keeps the host at work, wherever the tenant is."""
    connection = None
    while not stops.is_set():
        try:
            if connection is None:
                connection = psycopg2.connect(wed(directory, "flow", "url", "counters", tenant="acme").strip())
            with connection.cursor() as cursor:
                cursor.execute("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, greatest(0, (150 - (SELECT "
                               "count(*) FROM (SELECT FROM job_pool LIMIT 150) p))::integer / 3)) RETURNING wid")
                wids = cursor.fetchall()
            connection.commit()
            started.extend(wids)
            time.sleep(0.05)
        except (psycopg2.Error, SystemExit):
            connection = None
            time.sleep(0.05)


def measure(directory, size, places):
    """Parks instances, and moves the tenant to and fro; the first place is where it is."""
    url = wed(directory, "flow", "url", "parked", tenant="acme").strip()
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
    print(f"{size:>9} {rows:>9} {median(pauses):>11.2f} {max(pauses):>9.2f}", flush=True)


def main():
    folder = Path(tempfile.mkdtemp(prefix="wedflow-move-"))
    folder.chmod(0o755)
    server, base = start_server(folder)
    directory, host, stops, started = f"{base}/directory", None, threading.Event(), []
    try:
        for name in ("one", "two"):
            subprocess.run([WED, "migrate", "--database-url", f"{base}/{name}"], check=True, capture_output=True)
            wed(directory, "cluster", "add", name, "--url", f"{base}/{name}")
        wed(directory, "tenant", "create", "acme", "--cluster", "one")
        parked = folder / "parked.toml"
        parked.write_text(PARKED)
        wed(directory, "flow", "apply", str(FLOW), tenant="acme")
        wed(directory, "flow", "apply", str(parked), tenant="acme")
        wed(directory, "component", "push", str(COMPONENT), "--name", "counters", tenant="acme")
        host = subprocess.Popen([WED, "--quiet", "serve", "--lanes", "1"], cwd=folder,
                                env={**os.environ, "WEDFLOW_DIRECTORY": directory}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client = threading.Thread(target=load, args=(directory, stops, started))
        client.start()
        print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; {ROUNDS} moves of each size")
        print(f"{'instances':>9} {'history':>9} {'rested, p50 s':>11} {'most, s':>9}")
        places = ["one", "two"]
        for size in SIZES:
            measure(directory, size, places)
        stops.set()
        client.join()
        print(f"{len(started)} instances were started meanwhile")
    finally:
        stops.set()
        if host:
            host.terminate()
            host.wait()
        server.send_signal(signal.SIGINT)
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
