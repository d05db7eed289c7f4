#!/usr/bin/python3
"""Measures how work grows with clusters and hosts, on one machine: each server and each host has a fixed share of a
processor, so that they do not compete. Prints transitions a second and processor time for each, with ratios to the
first row; then a model with these costs, which says what the next limit is.

SECONDS=10            length of each measurement
SERVER_SHARE=0.20     share of a processor of each server
HOST_SHARE=0.10       share of a processor of each host
ROWS=1x1,1x2,…        clusters x hosts of each row"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg2

ROOT = Path(__file__).resolve().parent.parent
WED = ROOT / "target/release/wed"
COMPONENT = ROOT / "sample-transitions/target/wasm32-wasip2/release/counters.wasm"
FLOW = ROOT / "sample-transitions/counters/flow.toml"
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
ACCOUNT = "postgres" if os.getuid() == 0 else None
SECONDS = float(os.environ.get("SECONDS", "10"))
SHARES = {"server": float(os.environ.get("SERVER_SHARE", "0.20")), "host": float(os.environ.get("HOST_SHARE", "0.10"))}
ROWS = os.environ.get("ROWS", "1x1,1x2,1x4,1x8,2x2,2x4,2x8,4x4,4x8")
PERIOD_US = 20_000
# Instances that wait for hosts in each cluster.
QUEUE = 600


class Group:
    """A control group with a share of a processor; of version 1 or 2. Without rights to make one: nothing is fixed."""

    def __init__(self, name, share):
        quota = int(PERIOD_US * share)
        first = Path("/sys/fs/cgroup/cpu")
        self.is_old = first.is_dir()
        self.folder = (first if self.is_old else Path("/sys/fs/cgroup")) / f"wedflow-scale-{os.getpid()}-{name}"
        self.is_made = True
        try:
            self.folder.mkdir()
            if self.is_old:
                (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
                (self.folder / "cpu.cfs_quota_us").write_text(str(quota))
                self.account = Path("/sys/fs/cgroup/cpuacct") / self.folder.name
                self.account.mkdir(exist_ok=True)
            else:
                (self.folder / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        except OSError:
            self.is_made = False

    def take(self):
        """Puts the calling process into the group."""
        if self.is_made:
            for folder in {self.folder, self.account} if self.is_old else {self.folder}:
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
        for folder in {self.folder, self.account} if self.is_made and self.is_old else {self.folder}:
            for _ in range(50):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.1)


def as_account():
    if ACCOUNT:
        entry = pwd.getpwnam(ACCOUNT)
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)


@contextmanager
def server(folder, number):
    """A cluster's Postgres, in a group of its own."""
    data, group = folder / f"server-{number}", Group(f"server-{number}", SHARES["server"])
    port = 54_000 + os.getpid() % 5_000 + number
    run = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    subprocess.run([BINARIES[-1] / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync"],
                   preexec_fn=as_account, check=True, **run)

    def enter():
        group.take()
        as_account()

    process = subprocess.Popen([BINARIES[-1] / "postgres", "-D", data, "-p", str(port), "-k", folder,
                                "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=300"],
                               preexec_fn=enter, **run)
    url = f"postgres://postgres@127.0.0.1:{port}/wedflow"
    try:
        for _ in range(300):
            try:
                psycopg2.connect(url.replace("/wedflow", "/postgres")).close()
                break
            except psycopg2.Error:
                time.sleep(0.1)
        wed(url, "migrate")
        wed(url, "flow", "apply", str(FLOW))
        wed(url, "component", "push", str(COMPONENT), "--name", "counters")
        yield url, group
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
        group.remove()


def wed(url, *arguments):
    done = subprocess.run([WED, *arguments], env={**os.environ, "DATABASE_URL": url}, check=True, capture_output=True)
    return done.stdout.decode().strip()


@contextmanager
def host(folder, url, number):
    group = Group(f"host-{number}", SHARES["host"])
    process = subprocess.Popen([WED, "--quiet", "serve", "--lanes", "1", "--name", f"host-{number}"], cwd=folder,
                               env={**os.environ, "DATABASE_URL": url}, preexec_fn=group.take,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield group
    finally:
        process.terminate()
        process.wait()
        group.remove()


def question(url, text):
    connection = psycopg2.connect(url)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(text)
            return cursor.fetchone()[0] if cursor.description else None
    finally:
        connection.close()


def fill(flow_url):
    question(flow_url, f"INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, greatest(0, ({QUEUE} - (SELECT "
                       f"count(*) FROM (SELECT FROM job_pool LIMIT {QUEUE}) p))::integer / 3))")


def steps(url):
    return question(url, "SELECT count(*) FROM wed.trace WHERE trw IS NOT NULL")


def measure(folder, urls, flows, servers, hosts):
    """Measures hosts, dealt to the clusters in turn. Returns transitions a second, and processor time for each: of
    servers and of hosts."""
    from contextlib import ExitStack
    with ExitStack() as stack:
        groups = [stack.enter_context(host(folder, urls[number % len(urls)], number)) for number in range(hosts)]
        end = time.monotonic() + 5
        while time.monotonic() < end or any(steps(url) == 0 for url in urls):
            for flow in flows:
                fill(flow)
            time.sleep(0.2)
        before = (sum(map(steps, urls)), [group.seconds() for group in servers], [group.seconds() for group in groups])
        begun = time.monotonic()
        while time.monotonic() < begun + SECONDS:
            for flow in flows:
                fill(flow)
            time.sleep(0.2)
        took = time.monotonic() - begun
        done = sum(map(steps, urls)) - before[0]
        spent = [sum(group.seconds() for group in kind) - sum(was)
                 for kind, was in ((servers, before[1]), (groups, before[2]))]
    return done / took, [1e6 * seconds / max(done, 1) for seconds in spent]


def model(server_us):
    """Says what each limit asks for at 10^4 tenants, 10^9 instances and 10^6 transitions a second."""
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
        ("sessions", "8 hosts of 8 lanes each: 240 of 500, in each cluster", 240 / 500),
        ("schemas and roles of flows", f"{tenants:.0e} tenants x 5 flows / 5000 of a database", tenants * 5 / 5_000),
        ("look-ups in the directory", f"{tenants:.0e} tenants, once a server / 10000 a second", tenants / 1e4 / 60),
    ]
    print(f"\n{'limit':28} {'clusters':>9}  arithmetic")
    for name, arithmetic, clusters in sorted(rows, key=lambda row: -row[2]):
        print(f"{name:28} {clusters:9.1f}  {arithmetic}")


def main():
    for file in (WED, COMPONENT):
        if not file.exists():
            raise SystemExit(f"{file} is missing: `make build` builds it")
    if not BINARIES:
        raise SystemExit("no Postgres below /usr/lib/postgresql: apt install postgresql")
    rows = [tuple(map(int, row.split("x"))) for row in ROWS.split(",")]
    folder = Path(tempfile.mkdtemp(prefix="wedflow-scale-"))
    folder.chmod(0o777)
    probe = Group("probe", 1)
    if not probe.is_made:
        print("no control groups can be made here: shares are not fixed, and costs not known; run as root")
    probe.remove()
    print(f"{os.cpu_count()} processors; each server has {SHARES['server']:.2f} of one, each host {SHARES['host']:.2f}")
    print(f"{'clusters':>8} {'hosts':>6} {'transitions/s':>14} {'ratio':>6} {'server us each':>15} {'host us each':>13}")
    first = None
    try:
        for clusters in sorted({row[0] for row in rows}):
            first = measure_clusters(folder, clusters, [row[1] for row in rows if row[0] == clusters], first)
        if first and first[1][0]:
            model(first[1][0])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure_clusters(folder, clusters, hosts, first):
    from contextlib import ExitStack
    with ExitStack() as stack:
        made = [stack.enter_context(server(folder, number)) for number in range(clusters)]
        urls = [url for url, _ in made]
        flows = [wed(url, "flow", "url", "counters") for url in urls]
        for count in hosts:
            rate, (server_us, host_us) = measure(folder, urls, flows, [group for _, group in made], count)
            first = first or (rate, (server_us, host_us))
            print(f"{clusters:>8} {count:>6} {rate:>14.0f} {rate / first[0]:>6.2f} {server_us:>15.0f} {host_us:>13.0f}",
                  flush=True)
    for number in range(clusters):
        shutil.rmtree(folder / f"server-{number}", ignore_errors=True)
    return first


if __name__ == "__main__":
    main()
