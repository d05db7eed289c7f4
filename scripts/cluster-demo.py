#!/usr/bin/python3
"""Starts two clusters of two servers each with a synchronous replica (Patroni, etcd, HAProxy), a directory of both, and
two hosts that serve both. Under full load it moves a tenant from one cluster to the other, kills the primary there,
follows the runbooks of docs/guide/cluster.md, and checks that nothing acknowledged is lost and nothing done twice. Uses
the files of deploy/cluster.

ROUNDS=1      how many times a tenant is moved and a primary is killed
SECONDS=10    load before each of them, and after it
KEEP=no       yes: leaves everything running"""

import itertools
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import psycopg2

from servers import BINARIES, ROOT, WED, Client, at, bring_flow, check, environment, free_ports, kill_postgres, \
    need_programs, question, say, scratch, takes_writes, until
from servers import wed as wed_at

PASSWORD = "demo"
_ports = iter(free_ports(14))
ETCD, PEER = next(_ports), next(_ports)
# Addresses of the API.
APIS = [next(_ports), next(_ports)]
CLUSTERS = {"one": ("db1", "db2"), "two": ("db3", "db4")}
# Port of each cluster's HAProxy, and each server's: Postgres's, Patroni's.
LISTEN = {cluster: next(_ports) for cluster in CLUSTERS}
SERVERS = {name: (next(_ports), next(_ports)) for names in CLUSTERS.values() for name in names}
ACCOUNT = "postgres" if os.getuid() == 0 else None


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
        pid = int(postmaster.read_text().split()[0])
        os.kill(self.processes[f"patroni-{name}"].pid, signal.SIGKILL)
        self.processes[f"patroni-{name}"].wait()
        kill_postgres(pid)

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
    patroni = (ROOT / "deploy/cluster/patroni.yml").read_text()
    for cluster, names in CLUSTERS.items():
        for name in names:
            port, api = SERVERS[name]
            (folder / f"{name}.socket").mkdir()
            words = {"API_PORT": api, "PASSWORD": PASSWORD, "ADDRESS": "127.0.0.1", "PORT": port, "NAME": name,
                     "ETCD": f"127.0.0.1:{ETCD}", "DATA": folder / name, "BINARIES": BINARIES}
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


def is_ready(api):
    return answers(f"http://127.0.0.1:{api}/health/ready")


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


def directory():
    """The directory is kept by the first cluster's servers, and so replicated as they are."""
    return url(through_haproxy("one"), "directory")


def wed(*arguments, tenant=None):
    return wed_at({"WEDFLOW_DIRECTORY": directory()}, *arguments, tenant=tenant)


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


def ask(cluster, text, *values):
    return question(url(through_haproxy(cluster)), text, *values)[0]


def last_step(cluster):
    try:
        return ask(cluster, "SELECT coalesce(extract(epoch FROM max(tstmp)), 0) FROM wed.trace "
                            "WHERE trw NOT LIKE '\\_%'")
    except psycopg2.Error:
        return 0


def kill_primary(processes, cluster):
    """Kills the primary; returns when it was killed, when the other took writes, and the first step after that."""
    old = next(name for name in CLUSTERS[cluster] if is_primary(name))
    new = next(name for name in CLUSTERS[cluster] if name != old)
    say(f"kill -9 of the primary of cluster {cluster}, {old}")
    killed = time.time()
    processes.kill_server(old)
    until("a new primary", lambda: takes_writes(url(address(new), "postgres")))
    accepted = time.time()
    first = until("a step after it", lambda: (last := last_step(cluster)) > accepted and float(last))
    say(f"{new} took writes after {accepted - killed:.1f} s; hosts went on {first - accepted:.1f} s later")
    return old, accepted - killed, float(first) - accepted


def look_after(processes, cluster):
    """Follows the runbook "after a failover" up to the choice of a primary."""
    until(f"a leader and a synchronous replica of one timeline in cluster {cluster}", lambda: has_synchronous_replica(
        cluster) and len({one["timeline"] for one in members(cluster)}) == 1, 180)
    until("the hosts", lambda: all(map(is_ready, APIS)))
    problems = [one for one in json.loads(wed_status())["problems"] if one["code"] in ("read_only", "no_host")]
    if problems:
        raise SystemExit(f"after the failover: {problems}")


def wed_status():
    """Asks for the state of all clusters; the command ends with 1 while there is a problem."""
    return subprocess.run([WED, "--json", "status"], env=environment({"WEDFLOW_DIRECTORY": directory()}),
                          capture_output=True, text=True).stdout


def switch_over(processes, cluster, new):
    """Follows the runbook "change the primary on purpose". Returns the time until the first step at the new one."""
    old = next(name for name in CLUSTERS[cluster] if name != new)
    say(f"switch cluster {cluster} over from {old} to {new}")
    begun = time.time()
    subprocess.run(["patronictl", "-c", processes.folder / f"{new}.yml", "switchover", cluster, "--candidate", new,
                    "--force"], check=True, capture_output=True)
    until("the new primary", lambda: takes_writes(url(address(new), "postgres")))
    first = until("a step after it", lambda: (last := last_step(cluster)) > time.time() - 1 and float(last))
    look_after(processes, cluster)
    return first - begun


def move(target):
    source = next(name for name in CLUSTERS if name != target)
    say(f"move the tenant acme from cluster {source} to {target}")
    moved = json.loads(wed("--json", "tenant", "move", "acme", "--to-cluster", target))
    say(f"it rested for {moved['pause_ms']} ms, with {moved['checksum']['instances']['rows']} instances")
    wed("tenant", "delete", "acme", "--left-at", source, "--yes")
    return moved["pause_ms"] / 1000


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
        until("HAProxy", lambda cluster=cluster: takes_writes(url(through_haproxy(cluster), "postgres")))


def start_hosts(processes):
    """Registers the clusters, the first by HAProxy's address, the second by those of its servers; starts two hosts."""
    both = ",".join(address(name) for name in CLUSTERS["two"])
    places = {"one": url(through_haproxy("one")), "two": url(both) + "?target_session_attrs=read-write"}
    for cluster, place in places.items():
        wed_at(at(place), "migrate")
        wed("cluster", "add", cluster, "--url", place)
    for number, api in enumerate(APIS):
        processes.start(f"host-{number}", [WED, "serve", "--name", f"host-{number}", "--lanes", "1", "--listen",
                                           f"127.0.0.1:{api}"], environment={"WEDFLOW_DIRECTORY": directory()})
    for cluster in CLUSTERS:
        until("the hosts", lambda cluster=cluster: ask(cluster, "SELECT count(*) FROM wed.host") == 2)


def start_load(stops):
    for tenant, cluster in (("acme", "one"), ("stays", "two")):
        wed("tenant", "create", tenant, "--cluster", cluster)
        flow = bring_flow({"WEDFLOW_DIRECTORY": directory()}, tenant)
    wed("user", "create", "ann", "--role", "admin", tenant="acme")
    token = json.loads(wed("--json", "token", "create", "ann", tenant="acme"))["secret"]
    callers = [Caller(token, stops) for _ in range(4)]
    workers = [Client(lambda: flow, stops, jobs=300)]
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
        look_after(processes, target)
        writes = takes_writes(url(address(old), "postgres"))
        table.append((number, target, pause, old, promoted, after, "PRIMARY" if writes else "replica",
                      switch_over(processes, target, old)))
    stops.set()
    for client in callers + workers:
        client.join()
    all_of = lambda clients: [wid for client in clients for wid in client.acknowledged]
    found = {tenant: check(url(through_haproxy(cluster)), tenant, all_of(clients)) for tenant, cluster, clients in
             (("acme", target, callers), ("stays", "two", workers))}
    print(f"\n{'round':>5}  {'moved to':8} {'rested':>9}  {'killed':8} {'new primary':>12} {'hosts after it':>15}  "
          f"{'returned as':11} {'switched back in':>17}")
    for number, cluster, pause, old, promoted, after, role, switched in table:
        print(f"{number:>5}  {cluster:8} {pause:>7.2f} s  {old:8} {promoted:>10.1f} s {after:>13.1f} s  {role:11} "
              f"{switched:>15.1f} s")
    print(f"\n{'tenant':8} {'acknowledged':>12} {'lost':>5} {'doubled':>8} {'unfinished':>11} {'gaps':>5} "
          f"{'unanswered':>11}")
    for tenant, clients in (("acme", callers), ("stays", workers)):
        figures = found[tenant]
        print(f"{tenant:8} {figures['acknowledged']:>12} {figures['lost']:>5} {figures['doubled']:>8} "
              f"{figures['unfinished']:>11} {figures['gaps']:>5} {sum(one.unanswered for one in clients):>11}")
    wrong = [figures[kind] for figures in found.values() for kind in ("lost", "doubled", "unfinished", "gaps")]
    is_right = not any(wrong) and all(row[-2] == "replica" for row in table)
    return 0 if is_right and all(figures["acknowledged"] for figures in found.values()) else 1


def main():
    os.environ["PATH"] += ":/usr/sbin"
    for program in ("patroni", "etcd", "haproxy"):
        if not shutil.which(program):
            raise SystemExit(f"{program} is missing: apt install etcd-server patroni haproxy postgresql")
    need_programs()
    with scratch("cluster") as folder:
        write_configuration(folder)
        processes = Processes(folder)
        try:
            sys.exit(run(processes, int(os.environ.get("ROUNDS", "1")), float(os.environ.get("SECONDS", "10"))))
        finally:
            if os.environ.get("KEEP") == "yes":
                say(f"all goes on, in {folder}; the directory is {directory()}")
            else:
                processes.stop()


if __name__ == "__main__":
    main()
