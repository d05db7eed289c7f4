#!/usr/bin/python3
"""Measures how work grows with clusters and hosts, on one machine: each server and each host has a fixed share of a
processor, so that they do not compete. Prints transitions a second and processor time for each, the median of ROUNDS
with the least and the most, with ratios to the first row; then a model with these costs, which says what the next limit
is. Raw figures go to bench/results/scale.json.

ROUNDS=3              measurements of each row, in turn with the other rows of as many clusters
SECONDS=10            length of each measurement
SERVER_SHARE=0.20     share of a processor of each server
HOST_SHARE=0.10       share of a processor of each host
ROWS=1x1,1x2,…        clusters x hosts of each row"""

import json
import os
import shutil
import time
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median

import psycopg2

from servers import ROOT, Server, as_account, at, bring_flow, end, need_programs, question, scratch, start_host, \
    until, wed

RESULTS = ROOT / "bench/results/scale.json"
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SECONDS = float(os.environ.get("SECONDS", "10"))
SHARES = {"server": float(os.environ.get("SERVER_SHARE", "0.20")), "host": float(os.environ.get("HOST_SHARE", "0.10"))}
ROWS = os.environ.get("ROWS", "1x1,1x2,1x4,1x8,2x2,2x4,2x8,4x4,4x8")
PERIOD_US = 20_000
# Jobs that wait for hosts in each cluster.
QUEUE = 600
# Time that hosts may take until all are at work, time that they work without limits, so that sessions have their plans,
# and time within their shares before they are measured.
START_SECONDS_MAX, WARM_SECONDS, SETTLE_SECONDS = 180, 6, 2


class Group:
    """A control group with a share of a processor, once it is limited; of version 1 or 2. Without rights to make one:
    nothing is fixed."""

    def __init__(self, name, share):
        self.quota = int(PERIOD_US * share)
        root = Path("/sys/fs/cgroup")
        self.is_old = (root / "cpu").is_dir()
        self.folder = (root / "cpu" if self.is_old else root) / f"wedflow-scale-{os.getpid()}-{name}"
        self.account = root / "cpuacct" / self.folder.name if self.is_old else self.folder
        self.is_made = True
        try:
            self.folder.mkdir()
            self.account.mkdir(exist_ok=True)
            if not self.is_old and not (self.folder / "cpu.max").exists():
                (root / "cgroup.subtree_control").write_text("+cpu")
            self.limit(None)
        except OSError:
            self.is_made = False

    def limit(self, quota):
        """Lets the group have so many microseconds of each period; all it wants, without a number."""
        if self.is_old:
            (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (self.folder / "cpu.cfs_quota_us").write_text(str(quota or -1))
        else:
            (self.folder / "cpu.max").write_text(f"{quota or 'max'} {PERIOD_US}")

    def fix(self, is_fixed):
        """Gives the group its share, or all it wants."""
        if self.is_made:
            self.limit(self.quota if is_fixed else None)

    def take(self):
        """Puts the calling process into the group."""
        if self.is_made:
            for folder in {self.folder, self.account}:
                (folder / "cgroup.procs").write_text(str(os.getpid()))

    def seconds(self):
        """Returns the processor time that the group has used."""
        if not self.is_made:
            return 0.0
        if self.is_old:
            return int((self.account / "cpuacct.usage").read_text()) / 1e9
        lines = (self.folder / "cpu.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["usage_usec"]) / 1e6

    def remove(self):
        for folder in {self.folder, self.account}:
            for _ in range(50):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.1)


@contextmanager
def cluster(folder, number):
    """A cluster's Postgres, in a group of its own."""
    group = Group(f"server-{number}", SHARES["server"])

    def enter():
        group.take()
        as_account()

    server = Server(folder / f"server-{number}", enter=enter)
    try:
        server.make().start()
        wed(at(server.url()), "migrate")
        yield server.url(), group, bring_flow(at(server.url()))
    finally:
        server.stop()
        group.remove()
        shutil.rmtree(server.folder, ignore_errors=True)


@contextmanager
def host(folder, url, number):
    group = Group(f"host-{number}", SHARES["host"])
    process = start_host(at(url), "--name", f"host-{number}", cwd=folder, preexec_fn=group.take)
    try:
        yield group
    finally:
        end(process)
        group.remove()


class Filler:
    """Starts instances in a cluster, so many that its hosts have work. It keeps its sessions, and so their plans, and
    counts jobs as the owner: the view of a flow's role says of each why it waits."""

    def __init__(self, url, flow_url):
        self.sessions = [psycopg2.connect(place) for place in (url, flow_url)]
        for session in self.sessions:
            session.autocommit = True

    def fill(self):
        owner, worker = self.sessions
        with owner.cursor() as cursor, worker.cursor() as inserting:
            cursor.execute("SELECT count(*) FROM wed.job")
            missing = (QUEUE - cursor.fetchone()[0]) // 3
            if missing > 0:
                inserting.execute("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, %s)", (missing,))

    def close(self):
        for session in self.sessions:
            session.close()


def hosts_of(url):
    return question(url, "SELECT count(*) FROM wed.host")[0]


def steps(url, begun, ended):
    """Counts the transitions of transactions that began in a time. They carry the clock of this machine."""
    return question(url, f"SELECT count(*) FROM wed.trace WHERE trw NOT LIKE '\\_%' AND tstmp >= to_timestamp({begun}) "
                         f"AND tstmp < to_timestamp({ended})")[0]


def fill_for(fillers, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for filler in fillers:
            filler.fill()
        time.sleep(0.2)


def measure(folder, urls, fillers, servers, hosts):
    """Measures hosts, dealt to the clusters in turn. Returns transitions a second, and microseconds of a processor for
    each: of servers, which start the instances too, and of hosts."""
    with ExitStack() as stack:
        groups = [stack.enter_context(host(folder, urls[number % len(urls)], number)) for number in range(hosts)]
        until("the hosts", lambda: sum(map(hosts_of, urls)) == hosts, START_SECONDS_MAX)
        fill_for(fillers, WARM_SECONDS)
        for group in servers + groups:
            group.fix(True)
        fill_for(fillers, SETTLE_SECONDS)
        spent = lambda kind: sum(group.seconds() for group in kind)
        begun, before = time.time(), (spent(servers), spent(groups))
        fill_for(fillers, SECONDS)
        ended, after = time.time(), (spent(servers), spent(groups))
        for group in servers:
            group.fix(False)
    # Counted when hosts are gone, so that it costs none of what is measured.
    done = sum(steps(url, begun, ended) for url in urls)
    costs = [1e6 * (used - was) / max(done, 1) for used, was in zip(after, before)]
    return {"rate": done / (ended - begun), "server_us": costs[0], "host_us": costs[1]}


def model(server_us, host_us):
    """Says how many clusters each limit asks for at 10^4 tenants, 10^9 instances and 10^6 transitions a second."""
    tenants, instances, rate = 1e4, 1e9, 1e6
    cores, busy, state = 8, 0.7, 400
    rows = [
        ("processors of servers", f"{rate:.0e} x {server_us:.0f} us / ({cores} cores x {busy})",
         rate * server_us / 1e6 / (cores * busy)),
        ("log to disk and replica", f"{rate:.0e} x (3 x {state} + 500) bytes / 500 MB a second",
         rate * (3 * state + 500) / 500e6),
        ("history of 30 days", f"{rate:.0e} x 86400 x 30 x ({state} + 150) bytes / 20 TB",
         rate * 86_400 * 30 * (state + 150) / 20e12),
        ("states", f"{instances:.0e} x ({state} + 24) / 0.7 bytes / 20 TB", instances * (state + 24) / 0.7 / 20e12),
        ("vacuum of instances", f"{instances:.0e} x 30 bytes of index / (200 MB a second x 600 s)",
         instances * 30 / (200e6 * 600)),
        ("transaction ids", f"{rate:.0e} / 20 a batch x 86400 / (2^31 / 2)", rate / 20 * 86_400 / 2**30),
        ("schemas and roles of flows", f"{tenants:.0e} tenants x 5 flows / 5000 of a database", tenants * 5 / 5_000),
    ]
    print(f"\n{'limit':28} {'clusters':>9}  arithmetic")
    for name, arithmetic, clusters in sorted(rows, key=lambda row: -row[2]):
        print(f"{name:28} {clusters:9.1f}  {arithmetic}")
    print(f"\nhosts: {rate * host_us / 1e6 / (cores * busy):.1f} machines of {cores} processors, "
          f"{rate:.0e} x {host_us:.0f} us / ({cores} x {busy})")


def main():
    need_programs()
    rows = [tuple(map(int, row.split("x"))) for row in ROWS.split(",")]
    probe = Group("probe", 1)
    if not probe.is_made:
        print("no control groups can be made here: shares are not fixed, and costs not known; run as root")
    probe.remove()
    print(f"{os.cpu_count()} processors; each server has {SHARES['server']:.2f} of one, each host {SHARES['host']:.2f}")
    print(f"{'clusters':>8} {'hosts':>6} {'transitions/s':>22} {'ratio':>6} {'server us each':>20} "
          f"{'host us each':>20}")
    measured = []
    with scratch("scale") as folder:
        for clusters in sorted({row[0] for row in rows}):
            counts = [row[1] for row in rows if row[0] == clusters]
            measured += measure_clusters(folder, clusters, counts, measured)
    RESULTS.write_text(json.dumps({"processors": os.cpu_count(), "load": os.getloadavg(), "seconds": SECONDS,
                                   "shares": SHARES, "rows": measured}, indent=1) + "\n")
    first = {kind: middle(measured[0]["rounds"], kind) for kind in ("server_us", "host_us")}
    if first["server_us"]:
        model(first["server_us"], first["host_us"])


def middle(rounds, kind):
    return median(one[kind] for one in rounds)


def spread(rounds, kind):
    values = sorted(one[kind] for one in rounds)
    return f"{median(values):.0f} ({values[0]:.0f} to {values[-1]:.0f})"


def measure_clusters(folder, clusters, hosts, before):
    """Measures some numbers of hosts at so many clusters, round by round, and prints a row for each."""
    with ExitStack() as stack:
        made = [stack.enter_context(cluster(folder, number)) for number in range(clusters)]
        urls, groups, flows = zip(*made)
        fillers = [stack.enter_context(closing(Filler(*places))) for places in zip(urls, flows)]
        rows = [{"clusters": clusters, "hosts": count, "rounds": []} for count in hosts]
        for _ in range(ROUNDS):
            for row in rows:
                row["rounds"].append(measure(folder, urls, fillers, list(groups), row["hosts"]))
    first = (before or rows)[0]["rounds"]
    for row in rows:
        rounds = row["rounds"]
        print(f"{clusters:>8} {row['hosts']:>6} {spread(rounds, 'rate'):>22} "
              f"{middle(rounds, 'rate') / max(middle(first, 'rate'), 1e-9):>6.2f} {spread(rounds, 'server_us'):>20} "
              f"{spread(rounds, 'host_us'):>20}", flush=True)
    return rows


if __name__ == "__main__":
    main()
