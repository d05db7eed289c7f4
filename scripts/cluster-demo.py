#!/usr/bin/python3
"""Starts a cluster of two servers with a synchronous replica (Patroni, etcd, HAProxy) and two hosts, kills the primary
under full load, and checks that nothing acknowledged is lost and nothing done twice. Uses the files of deploy/cluster.

ROUNDS=1      how many times the primary is killed
SECONDS=10    load before each kill, and after it
KEEP=no       yes: leaves the cluster running"""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import psycopg2

ROOT = Path(__file__).resolve().parent.parent
WED = ROOT / "target/release/wed"
COMPONENT = ROOT / "sample-transitions/target/wasm32-wasip2/release/counters.wasm"
FLOW = ROOT / "sample-transitions/counters/flow.toml"
STEPS = 12
PASSWORD = "demo"


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


LISTEN, ETCD, PEER, *_ports = free_ports(7)
# Each server's ports: Postgres's, Patroni's.
SERVERS = {"db1": (_ports[0], _ports[1]), "db2": (_ports[2], _ports[3])}
ACCOUNT = "postgres" if os.getuid() == 0 else None


def say(text):
    print(f"· {text}", flush=True)


def until(what, look, most=90.0):
    """Looks again and again; ends the demo when it finds nothing for too long."""
    end = time.monotonic() + most
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise SystemExit(f"waited {most:.0f} s for: {what}")


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.processes = {}
        self.started = []

    def start(self, name, command, account=None, environment=None):
        log = open(self.folder / f"{name}.log", "ab")
        user = {}
        if account:
            entry = pwd.getpwnam(account)
            user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, start_new_session=True,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), **(environment or {})}, **user,
        )
        self.processes[name] = process
        return process

    def start_server(self, name):
        self.start(f"patroni-{name}", ["patroni", self.folder / f"{name}.yml"], ACCOUNT)

    def kill_server(self, name):
        """Kills Patroni and its Postgres, as a machine that loses its power does."""
        postmaster = self.folder / f"{name}/postmaster.pid"
        pids = [int(postmaster.read_text().split()[0])]
        os.kill(self.processes[f"patroni-{name}"].pid, signal.SIGKILL)
        self.processes[f"patroni-{name}"].wait()
        children = subprocess.run(["pgrep", "-P", str(pids[0])], capture_output=True, text=True).stdout
        for pid in pids + [int(word) for word in children.split()]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def stop(self):
        for name in reversed(list(self.processes)):
            process = self.processes[name]
            if process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        for name in SERVERS:
            postmaster = self.folder / f"{name}/postmaster.pid"
            if postmaster.exists():
                try:
                    os.kill(int(postmaster.read_text().split()[0]), signal.SIGQUIT)
                except (ProcessLookupError, ValueError):
                    pass


def write_configuration(folder):
    binaries = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True).stdout.strip()
    if not binaries or not Path(binaries, "initdb").exists():
        binaries = str(sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1])
    patroni = (ROOT / "deploy/cluster/patroni.yml").read_text()
    for name, (port, api) in SERVERS.items():
        (folder / f"{name}.socket").mkdir()
        words = {"API_PORT": api, "PASSWORD": PASSWORD, "ADDRESS": "127.0.0.1", "PORT": port, "NAME": name,
                 "ETCD": f"127.0.0.1:{ETCD}", "DATA": folder / name, "BINARIES": binaries}
        (folder / f"{name}.yml").write_text(filled(patroni, words))
    words = {"FIRST_API": SERVERS["db1"][1], "SECOND_API": SERVERS["db2"][1],
             "FIRST": address("db1"), "SECOND": address("db2"),
             "LISTEN": f"127.0.0.1:{LISTEN}"}
    haproxy = filled((ROOT / "deploy/cluster/haproxy.cfg").read_text(), words)
    (folder / "haproxy.cfg").write_text(haproxy)
    if ACCOUNT:
        subprocess.run(["chown", "-R", ACCOUNT, str(folder)], check=True)


def filled(text, words):
    lines = []
    for line in text.splitlines():
        if not line.lstrip().startswith("#"):
            for word, value in words.items():
                line = line.replace(word, str(value))
        lines.append(line)
    return "\n".join(lines) + "\n"


def answers(place):
    try:
        with urllib.request.urlopen(place, timeout=1) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def is_primary(name):
    return answers(f"http://127.0.0.1:{SERVERS[name][1]}/primary")


def members():
    for _, api in SERVERS.values():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{api}/cluster", timeout=1) as answer:
                return json.load(answer)["members"]
        except (urllib.error.URLError, OSError, KeyError):
            continue
    return []


def has_synchronous_replica():
    roles = sorted(member["role"] for member in members() if member["state"] in ("running", "streaming"))
    return "sync_standby" in roles and "leader" in roles


def address(name=None):
    return f"127.0.0.1:{SERVERS[name][0]}" if name else f"127.0.0.1:{LISTEN}"


def url(place):
    return f"postgres://postgres:{PASSWORD}@{place}/wedflow"


def takes_writes(name):
    """Asks the server itself."""
    try:
        connection = psycopg2.connect(url(address(name)), connect_timeout=1)
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT NOT pg_is_in_recovery()")
            return cursor.fetchone()[0]
    except psycopg2.Error:
        return False


def wed(*arguments):
    environment = {**os.environ, "DATABASE_URL": url(address())}
    return subprocess.run([str(WED), *arguments], env=environment, check=True, capture_output=True, text=True).stdout


class Client(threading.Thread):
    """Starts instances all the time; remembers those whose start was acknowledged."""

    def __init__(self, flow_url, stops):
        super().__init__(daemon=True)
        self.flow_url, self.stops = flow_url, stops
        self.acknowledged, self.unanswered = [], 0

    def run(self):
        connection = None
        while not self.stops.is_set():
            try:
                connection = connection or psycopg2.connect(self.flow_url, connect_timeout=2)
                with connection.cursor() as cursor:
                    # As many as keep the hosts at work, and no more.
                    cursor.execute("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, "
                                   "(300 - (SELECT count(*) FROM (SELECT FROM job_pool LIMIT 300) p)) / 3) RETURNING wid")
                    wids = [row[0] for row in cursor.fetchall()]
                connection.commit()
                self.acknowledged += wids
                time.sleep(0.05)
            except psycopg2.Error:
                self.unanswered += 1
                if connection:
                    connection.close()
                connection = None
                time.sleep(0.1)


def question(text, *values):
    connection = psycopg2.connect(url(address()), connect_timeout=5)
    with connection, connection.cursor() as cursor:
        cursor.execute(text, values or None)
        return cursor.fetchone()


def last_step():
    try:
        return question("SELECT coalesce(extract(epoch FROM max(tstmp)), 0) FROM wed.trace WHERE trw NOT LIKE '\\_%'")[0]
    except psycopg2.Error:
        return 0


def kill_primary(cluster):
    """Kills the primary; returns when it was killed, when the other took writes, and the first step after that."""
    old = next(name for name in SERVERS if is_primary(name))
    new = next(name for name in SERVERS if name != old)
    say(f"kill -9 of the primary, {old}")
    killed = time.time()
    cluster.kill_server(old)
    until("a new primary", lambda: takes_writes(new))
    accepted = time.time()
    first = until("a step after it", lambda: (last := last_step()) > accepted and float(last))
    say(f"{new} took writes after {accepted - killed:.1f} s; hosts went on {first - accepted:.1f} s later")
    return old, killed, accepted, float(first)


def check(acknowledged, seconds=120):
    until("the end of all instances",
          lambda: question("SELECT count(*) FROM wed.instance WHERE status <> 'F'")[0] == 0, seconds)
    lost = question("SELECT count(*) FROM unnest(%s::int[]) AS a(wid) WHERE NOT EXISTS (SELECT FROM wed.instance i "
                    "WHERE i.wid = a.wid AND i.status = 'F')", acknowledged)[0]
    steps = ("SELECT count(*) FROM (SELECT count(*) FILTER (WHERE trw NOT LIKE '\\_%%') AS steps, count(*) AS rows, "
             "max(seq) AS newest FROM wed.trace GROUP BY wid) i WHERE ")
    return {"lost": lost, "doubled": question(steps + "steps > %s", STEPS)[0],
            "unfinished": question(steps + "steps < %s", STEPS)[0],
            "gaps": question(steps + "rows <> newest AND %s", True)[0]}


def longest_pause(since):
    return float(question(
        "SELECT coalesce(max(gap), 0) FROM (SELECT extract(epoch FROM tstmp - lag(tstmp) OVER (ORDER BY tstmp)) AS gap "
        "FROM wed.trace WHERE trw IS NOT NULL AND tstmp > to_timestamp(%s)) g", since)[0])


def start_hosts(cluster):
    both = ",".join(address(name) for name in SERVERS)
    for name, place in (("through-haproxy", address()), ("both-servers", both)):
        environment = {"DATABASE_URL": url(place) + ("?target_session_attrs=read-write" if "," in place else "")}
        cluster.start(f"host-{name}", [WED, "serve", "--name", name, "--lanes", "1"], environment=environment)
    until("the hosts", lambda: question("SELECT count(*) FROM wed.host")[0] == 2)


def run(cluster, rounds, seconds):
    etcd = f"http://127.0.0.1:{ETCD}"
    peer = f"http://127.0.0.1:{PEER}"
    cluster.start("etcd", ["etcd", "--data-dir", cluster.folder / "etcd", "--listen-client-urls", etcd,
                           "--advertise-client-urls", etcd, "--listen-peer-urls", peer, "--initial-advertise-peer-urls",
                           peer, "--initial-cluster", f"default={peer}"], ACCOUNT)
    until("etcd", lambda: answers(etcd + "/health"), 60)
    say("starting two servers of Postgres below Patroni, with etcd and HAProxy")
    for name in SERVERS:
        cluster.start_server(name)
    cluster.start("haproxy", ["haproxy", "-db", "-f", cluster.folder / "haproxy.cfg"], ACCOUNT)
    until("a primary with a synchronous replica", has_synchronous_replica, 180)
    until("HAProxy", lambda: any(takes_writes_through_haproxy()))
    wed("migrate")
    wed("flow", "apply", str(FLOW))
    wed("component", "push", str(COMPONENT), "--name", "counters")
    start_hosts(cluster)
    flow_url = wed("flow", "url", "counters").strip()
    begun = time.time()
    stops = threading.Event()
    clients = [Client(flow_url, stops) for _ in range(2)]
    for client in clients:
        client.start()
    table = []
    for number in range(1, rounds + 1):
        time.sleep(seconds)
        old, killed, accepted, first = kill_primary(cluster)
        time.sleep(seconds)
        cluster.start_server(old)
        until("the old primary as a synchronous replica", has_synchronous_replica, 180)
        table.append((number, old, accepted - killed, first - accepted, takes_writes(old)))
    stops.set()
    for client in clients:
        client.join()
    acknowledged = [wid for client in clients for wid in client.acknowledged]
    unanswered = sum(client.unanswered for client in clients)
    found = check(acknowledged)
    print(f"\n{'round':>5}  {'killed':8} {'new primary':>12} {'hosts after it':>15}  old primary returned as")
    for number, old, promoted, after, writes in table:
        print(f"{number:>5}  {old:8} {promoted:>10.1f} s {after:>13.1f} s  {'PRIMARY' if writes else 'replica'}")
    print(f"\nacknowledged {len(acknowledged)}, lost {found['lost']}, doubled {found['doubled']}, unfinished "
          f"{found['unfinished']}, gaps in traces {found['gaps']}, unanswered {unanswered}; longest pause "
          f"{longest_pause(begun):.1f} s")
    bad = found["lost"] + found["doubled"] + found["unfinished"] + found["gaps"] + sum(row[4] for row in table)
    return 1 if bad or not acknowledged else 0


def takes_writes_through_haproxy():
    try:
        connection = psycopg2.connect(f"postgres://postgres:{PASSWORD}@{address()}/postgres", connect_timeout=2)
        connection.close()
        yield True
    except psycopg2.Error:
        yield False


def main():
    for program in ("patroni", "etcd", "haproxy"):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"):
            raise SystemExit(f"{program} is missing: apt install etcd-server patroni haproxy postgresql")
    for file in (WED, COMPONENT):
        if not file.exists():
            raise SystemExit(f"{file} is missing: `make build` builds it")
    os.environ["PATH"] += ":/usr/sbin"
    folder = Path(tempfile.mkdtemp(prefix="wedflow-cluster-"))
    folder.chmod(0o755)
    write_configuration(folder)
    cluster = Cluster(folder)
    code = 1
    try:
        code = run(cluster, int(os.environ.get("ROUNDS", "1")), float(os.environ.get("SECONDS", "10")))
    finally:
        if os.environ.get("KEEP") == "yes":
            say(f"the cluster goes on, in {folder}; its database is {url(address())}")
        else:
            cluster.stop()
            if code == 0:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                say(f"logs are in {folder}")
    sys.exit(code)


if __name__ == "__main__":
    main()
