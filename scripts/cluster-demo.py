#!/usr/bin/python3
"""Starts two clusters of two servers each with a synchronous replica (Patroni, etcd, HAProxy), a directory of both, and
two hosts that serve both. Under full load it moves a tenant from one cluster to the other and kills the primary there;
then checks that nothing acknowledged is lost and nothing done twice. Uses the files of deploy/cluster.

ROUNDS=1      how many times a tenant is moved and a primary is killed
SECONDS=10    load before each of them, and after it
KEEP=no       yes: leaves everything running"""

import itertools
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


_ports = iter(free_ports(14))
ETCD, PEER = next(_ports), next(_ports)
# Addresses of the API.
APIS = [next(_ports), next(_ports)]
CLUSTERS = {"one": ("db1", "db2"), "two": ("db3", "db4")}
# Port of each cluster's HAProxy, and each server's: Postgres's, Patroni's.
LISTEN = {cluster: next(_ports) for cluster in CLUSTERS}
SERVERS = {name: (next(_ports), next(_ports)) for names in CLUSTERS.values() for name in names}
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


class Processes:
    def __init__(self, folder):
        self.folder = folder
        self.processes = {}

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
    for cluster, names in CLUSTERS.items():
        for name in names:
            port, api = SERVERS[name]
            (folder / f"{name}.socket").mkdir()
            words = {"API_PORT": api, "PASSWORD": PASSWORD, "ADDRESS": "127.0.0.1", "PORT": port, "NAME": name,
                     "ETCD": f"127.0.0.1:{ETCD}", "DATA": folder / name, "BINARIES": binaries}
            own = patroni.replace("scope: wedflow", f"scope: {cluster}")
            (folder / f"{name}.yml").write_text(filled(own, words))
        first, second = names
        words = {"FIRST_API": SERVERS[first][1], "SECOND_API": SERVERS[second][1],
                 "FIRST": address(first), "SECOND": address(second), "LISTEN": f"127.0.0.1:{LISTEN[cluster]}"}
        haproxy = filled((ROOT / "deploy/cluster/haproxy.cfg").read_text(), words)
        (folder / f"{cluster}.cfg").write_text(haproxy)
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


def members(cluster):
    for name in CLUSTERS[cluster]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{SERVERS[name][1]}/cluster", timeout=1) as answer:
                return json.load(answer)["members"]
        except (urllib.error.URLError, OSError, KeyError):
            continue
    return []


def has_synchronous_replica(cluster):
    roles = sorted(one["role"] for one in members(cluster) if one["state"] in ("running", "streaming"))
    return "sync_standby" in roles and "leader" in roles


def address(server):
    return f"127.0.0.1:{SERVERS[server][0]}"


def through_haproxy(cluster):
    return f"127.0.0.1:{LISTEN[cluster]}"


def url(place, database="wedflow"):
    return f"postgres://postgres:{PASSWORD}@{place}/{database}"


def takes_writes(place):
    """Asks the server itself."""
    try:
        connection = psycopg2.connect(url(place, "postgres"), connect_timeout=1)
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT NOT pg_is_in_recovery()")
            return cursor.fetchone()[0]
    except psycopg2.Error:
        return False


def directory():
    """The directory is kept by the first cluster's servers, and so replicated as they are."""
    return url(through_haproxy("one"), "directory")


def wed(*arguments, tenant=None):
    environment = {**os.environ, "WEDFLOW_DIRECTORY": directory()}
    command = [str(WED), *(["--tenant", tenant] if tenant else []), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"wed {' '.join(arguments)}: {done.stderr}")
    return done.stdout


class Worker(threading.Thread):
    """Starts instances of the tenant that stays, in SQL, all the time; remembers those that were acknowledged."""

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
                    cursor.execute("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, (300 - (SELECT "
                                   "count(*) FROM (SELECT FROM job_pool LIMIT 300) p)) / 3) RETURNING wid")
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


class Caller(threading.Thread):
    """Starts instances of the tenant that moves, over HTTP, at whichever server answers."""

    def __init__(self, token, stops):
        super().__init__(daemon=True)
        self.token, self.stops = token, stops
        self.acknowledged, self.unanswered = [], 0

    def run(self):
        apis = itertools.cycle(APIS)
        api = next(apis)
        while not self.stops.is_set():
            request = urllib.request.Request(
                f"http://127.0.0.1:{api}/v1/flows/counters/instances", method="POST", data=b"{}",
                headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=25) as answer:
                    self.acknowledged.append(json.load(answer)["wid"])
            except (urllib.error.URLError, OSError, ValueError):
                self.unanswered += 1
                api = next(apis)
                time.sleep(0.1)
            time.sleep(0.01)


def question(cluster, text, *values):
    connection = psycopg2.connect(url(through_haproxy(cluster)), connect_timeout=5)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(text, values or None)
            return cursor.fetchone()
    finally:
        connection.close()


def last_step(cluster):
    try:
        return question(cluster, "SELECT coalesce(extract(epoch FROM max(tstmp)), 0) FROM wed.trace "
                                 "WHERE trw NOT LIKE '\\_%'")[0]
    except psycopg2.Error:
        return 0


def kill_primary(processes, cluster):
    """Kills the primary; returns when it was killed, when the other took writes, and the first step after that."""
    old = next(name for name in CLUSTERS[cluster] if is_primary(name))
    new = next(name for name in CLUSTERS[cluster] if name != old)
    say(f"kill -9 of the primary of cluster {cluster}, {old}")
    killed = time.time()
    processes.kill_server(old)
    until("a new primary", lambda: takes_writes(address(new)))
    accepted = time.time()
    first = until("a step after it", lambda: (last := last_step(cluster)) > accepted and float(last))
    say(f"{new} took writes after {accepted - killed:.1f} s; hosts went on {first - accepted:.1f} s later")
    return old, accepted - killed, float(first) - accepted


def move(target):
    source = next(name for name in CLUSTERS if name != target)
    say(f"move the tenant acme from cluster {source} to {target}")
    moved = json.loads(wed("--json", "tenant", "move", "acme", "--to-cluster", target))
    say(f"it rested for {moved['pause_ms']} ms, with {moved['checksum']['instances']['rows']} instances")
    wed("tenant", "delete", "acme", "--left-at", source, "--yes")
    return moved["pause_ms"] / 1000


def check(cluster, tenant, acknowledged):
    """Counts what is wrong with a tenant's instances."""
    own = f"SELECT f.flow_id FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE t.name = '{tenant}'"
    until(f"the end of all instances of {tenant}", lambda: question(
        cluster, f"SELECT count(*) FROM wed.instance WHERE status <> 'F' AND flow_id IN ({own})")[0] == 0, 180)
    lost = question(cluster, "SELECT count(*) FROM unnest(%s::int[]) AS a(wid) WHERE NOT EXISTS (SELECT FROM "
                    f"wed.instance i WHERE i.wid = a.wid AND i.status = 'F' AND i.flow_id IN ({own}))", acknowledged)[0]
    steps = ("SELECT count(*) FROM (SELECT count(*) FILTER (WHERE trw NOT LIKE '\\_%%') AS steps, count(*) AS rows, "
             f"max(seq) AS newest FROM wed.trace WHERE flow_id IN ({own}) GROUP BY wid) i WHERE ")
    return {"acknowledged": len(acknowledged), "lost": lost,
            "doubled": question(cluster, steps + "steps > %s", STEPS)[0],
            "unfinished": question(cluster, steps + "steps < %s", STEPS)[0],
            "gaps": question(cluster, steps + "rows <> newest AND %s", True)[0]}


def start_servers(processes):
    etcd, peer = f"http://127.0.0.1:{ETCD}", f"http://127.0.0.1:{PEER}"
    processes.start("etcd", ["etcd", "--data-dir", processes.folder / "etcd", "--listen-client-urls", etcd,
                             "--advertise-client-urls", etcd, "--listen-peer-urls", peer,
                             "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"], ACCOUNT)
    until("etcd", lambda: answers(etcd + "/health"), 60)
    say("starting two clusters of two servers of Postgres below Patroni, with etcd and HAProxy")
    for name in SERVERS:
        processes.start_server(name)
    for cluster in CLUSTERS:
        processes.start(f"haproxy-{cluster}", ["haproxy", "-db", "-f", processes.folder / f"{cluster}.cfg"], ACCOUNT)
    for cluster in CLUSTERS:
        until(f"a primary with a synchronous replica of cluster {cluster}",
              lambda cluster=cluster: has_synchronous_replica(cluster), 240)
        until("HAProxy", lambda cluster=cluster: takes_writes(through_haproxy(cluster)))


def start_hosts(processes):
    """Registers the clusters, the first by HAProxy's address, the second by those of its servers; starts two hosts."""
    both = ",".join(address(name) for name in CLUSTERS["two"])
    places = {"one": url(through_haproxy("one")), "two": url(both) + "?target_session_attrs=read-write"}
    for cluster, place in places.items():
        subprocess.run([str(WED), "migrate", "--database-url", place], check=True, capture_output=True)
        wed("cluster", "add", cluster, "--url", place)
    for number, api in enumerate(APIS):
        processes.start(f"host-{number}", [WED, "serve", "--name", f"host-{number}", "--lanes", "1", "--listen",
                                           f"127.0.0.1:{api}"], environment={"WEDFLOW_DIRECTORY": directory()})
    for cluster in CLUSTERS:
        until("the hosts", lambda cluster=cluster: question(cluster, "SELECT count(*) FROM wed.host")[0] == 2)


def start_load(stops):
    for tenant, cluster in (("acme", "one"), ("stays", "two")):
        wed("tenant", "create", tenant, "--cluster", cluster)
        wed("flow", "apply", str(FLOW), tenant=tenant)
        wed("component", "push", str(COMPONENT), "--name", "counters", tenant=tenant)
    wed("user", "create", "ann", "--role", "admin", tenant="acme")
    token = json.loads(wed("--json", "token", "create", "ann", tenant="acme"))["secret"]
    callers = [Caller(token, stops) for _ in range(4)]
    workers = [Worker(wed("flow", "url", "counters", tenant="stays").strip(), stops)]
    for client in callers + workers:
        client.start()
    return callers, workers


def run(processes, rounds, seconds):
    start_servers(processes)
    start_hosts(processes)
    stops = threading.Event()
    callers, workers = start_load(stops)
    table = []
    for number in range(1, rounds + 1):
        target = "two" if number % 2 else "one"
        time.sleep(seconds)
        pause = move(target)
        time.sleep(seconds)
        old, promoted, after = kill_primary(processes, target)
        time.sleep(seconds)
        processes.start_server(old)
        until("the old primary as a synchronous replica", lambda: has_synchronous_replica(target), 180)
        table.append((number, target, pause, old, promoted, after, takes_writes(address(old))))
    stops.set()
    for client in callers + workers:
        client.join()
    all_of = lambda clients: [wid for client in clients for wid in client.acknowledged]
    found = {"acme": check(target, "acme", all_of(callers)), "stays": check("two", "stays", all_of(workers))}
    print(f"\n{'round':>5}  {'moved to':8} {'rested':>9}  {'killed':8} {'new primary':>12} {'hosts after it':>15}  "
          "old primary returned as")
    for number, cluster, pause, old, promoted, after, writes in table:
        print(f"{number:>5}  {cluster:8} {pause:>7.2f} s  {old:8} {promoted:>10.1f} s {after:>13.1f} s  "
              f"{'PRIMARY' if writes else 'replica'}")
    print(f"\n{'tenant':8} {'acknowledged':>12} {'lost':>5} {'doubled':>8} {'unfinished':>11} {'gaps':>5} "
          f"{'unanswered':>11}")
    for tenant, clients in (("acme", callers), ("stays", workers)):
        figures = found[tenant]
        print(f"{tenant:8} {figures['acknowledged']:>12} {figures['lost']:>5} {figures['doubled']:>8} "
              f"{figures['unfinished']:>11} {figures['gaps']:>5} {sum(one.unanswered for one in clients):>11}")
    wrong = [figures[kind] for figures in found.values() for kind in ("lost", "doubled", "unfinished", "gaps")]
    is_right = not any(wrong) and not any(row[-1] for row in table)
    return 0 if is_right and all(figures["acknowledged"] for figures in found.values()) else 1


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
    processes = Processes(folder)
    code = 1
    try:
        code = run(processes, int(os.environ.get("ROUNDS", "1")), float(os.environ.get("SECONDS", "10")))
    finally:
        if os.environ.get("KEEP") == "yes":
            say(f"all goes on, in {folder}; the directory is {directory()}")
        else:
            processes.stop()
            if code == 0:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                say(f"logs are in {folder}")
    sys.exit(code)


if __name__ == "__main__":
    main()
