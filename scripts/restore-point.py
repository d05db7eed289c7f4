#!/usr/bin/python3
"""Follows the runbook "restore to a point in time" once, under load: a base backup and an archive of the write-ahead log,
a moment, the loss of the server and its disk, a restore to that moment, and work that goes on. Checks that nothing that
was acknowledged before the moment is lost, nothing from after it is there, and nothing is done twice.

SECONDS=5     load before the backup, before the moment, after it, and after the restore
KEEP=no       yes: leaves the folder"""

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
from pathlib import Path

import psycopg2

ROOT = Path(__file__).resolve().parent.parent
WED = ROOT / "target/release/wed"
COMPONENT = ROOT / "sample-transitions/target/wasm32-wasip2/release/counters.wasm"
FLOW = ROOT / "sample-transitions/counters/flow.toml"
# Transitions of an instance, in whatever order.
STEPS = 12
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
ACCOUNT = pwd.getpwnam("postgres") if os.getuid() == 0 else None
LOAD_SECONDS = float(os.environ.get("SECONDS", "5"))


def say(text):
    print(f"· {text}", flush=True)


def until(what, look, most=60.0):
    end = time.monotonic() + most
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise SystemExit(f"waited {most:.0f} s for: {what}")


def as_account():
    if ACCOUNT:
        os.setgid(ACCOUNT.pw_gid)
        os.setuid(ACCOUNT.pw_uid)


class Server:
    """A Postgres whose write-ahead log is archived."""

    def __init__(self, folder):
        self.folder, self.archive, self.process = folder, folder / "archive", None
        self.archive.mkdir()
        if ACCOUNT:
            shutil.chown(folder, ACCOUNT.pw_uid, ACCOUNT.pw_gid)
            shutil.chown(self.archive, ACCOUNT.pw_uid, ACCOUNT.pw_gid)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    def run(self, program, *arguments):
        subprocess.run([BINARIES[-1] / program, *map(str, arguments)], preexec_fn=as_account, cwd=self.folder,
                       check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def make(self, data):
        self.run("initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync")

    def start(self, data):
        log = open(self.folder / "log", "ab")
        archive = f"test ! -f {self.archive}/%f && cp %p {self.archive}/%f"
        self.process = subprocess.Popen(
            [BINARIES[-1] / "postgres", "-D", data, "-p", str(self.port), "-k", self.folder,
             "-c", "listen_addresses=127.0.0.1", "-c", "archive_mode=on", "-c", f"archive_command={archive}",
             "-c", "archive_timeout=1", "-c", "max_connections=100", "-c", "jit=off"],
            preexec_fn=as_account, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True)
        until("the server", lambda: self.answers("SELECT NOT pg_is_in_recovery()"))

    def answers(self, text):
        try:
            return question(self.url("postgres"), text)[0]
        except psycopg2.Error:
            if self.process.poll() is not None:
                raise SystemExit(f"the server has ended; its log is {self.folder / 'log'}")
            return False

    def url(self, database="wedflow"):
        return f"postgres://postgres@127.0.0.1:{self.port}/{database}"

    def lose(self):
        """Ends all processes at once, as a machine that loses its power does."""
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout
        for pid in [self.process.pid, *map(int, children.split())]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()


def question(url, text, *values):
    connection = psycopg2.connect(url, connect_timeout=5)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(text, values or None)
            return cursor.fetchone()
    finally:
        connection.close()


def wed(server, *arguments):
    environment = {**os.environ, "DATABASE_URL": server.url()}
    return subprocess.run([WED, *arguments], env=environment, check=True, capture_output=True, text=True).stdout


class Client(threading.Thread):
    """Starts instances all the time. Remembers each with the moments at which it was asked for and acknowledged."""

    def __init__(self, flow_url, stops):
        super().__init__(daemon=True)
        self.flow_url, self.stops, self.started = flow_url, stops, []

    def run(self):
        connection = None
        while not self.stops.is_set():
            asked = time.time()
            try:
                connection = connection or psycopg2.connect(self.flow_url, connect_timeout=2)
                with connection.cursor() as cursor:
                    # As many as keep the host at work, and always one.
                    cursor.execute("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, greatest(1, (150 - "
                                   "(SELECT count(*) FROM (SELECT FROM job_pool LIMIT 150) p))::integer / 3)) "
                                   "RETURNING wid")
                    wids = [row[0] for row in cursor.fetchall()]
                connection.commit()
                now = time.time()
                self.started += [(wid, asked, now) for wid in wids]
                time.sleep(0.05)
            except psycopg2.Error:
                if connection:
                    connection.close()
                connection = None
                time.sleep(0.1)


class Load:
    """A host and two clients."""

    def __init__(self, server):
        self.host = subprocess.Popen([WED, "--quiet", "serve", "--lanes", "1"], cwd=server.folder,
                                     env={**os.environ, "DATABASE_URL": server.url()}, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.stops = threading.Event()
        self.clients = [Client(wed(server, "flow", "url", "counters").strip(), self.stops) for _ in range(2)]
        for client in self.clients:
            client.start()

    def end_clients(self):
        self.stops.set()
        for client in self.clients:
            client.join()
        return [one for client in self.clients for one in client.started]

    def end_host(self):
        self.host.terminate()
        self.host.wait()


def restore(server, base, target):
    """Starts the backup as the server, up to the moment."""
    with open(base / "postgresql.auto.conf", "a") as settings:
        settings.write(f"restore_command = 'cp {server.archive}/%f %p'\n"
                       f"recovery_target_time = '{target}'\nrecovery_target_action = 'promote'\n")
    (base / "recovery.signal").touch()
    if ACCOUNT:
        shutil.chown(base / "recovery.signal", ACCOUNT.pw_uid, ACCOUNT.pw_gid)
    server.start(base)


def count_steps(server, condition):
    """Counts the instances whose trace is as the condition says."""
    return question(server.url(), "SELECT count(*) FROM (SELECT count(*) FILTER (WHERE trw NOT LIKE '\\_%') AS steps, "
                    "count(*) AS rows, max(seq) AS newest FROM wed.trace GROUP BY wid) i WHERE " + condition)[0]


def missing(server, wids):
    return question(server.url(), "SELECT count(*) FROM unnest(%s::integer[]) AS a(wid) WHERE NOT EXISTS (SELECT FROM "
                    "wed.instance i WHERE i.wid = a.wid)", wids)[0]


def run(server):
    data, base = server.folder / "data", server.folder / "base"
    say("a server with an archive, a flow, a host and clients")
    server.make(data)
    server.start(data)
    wed(server, "migrate")
    wed(server, "flow", "apply", str(FLOW))
    wed(server, "component", "push", str(COMPONENT), "--name", "counters")
    load = Load(server)
    time.sleep(LOAD_SECONDS)
    say("a base backup under load")
    server.run("pg_basebackup", "-D", base, "-d", server.url("postgres"), "-X", "none", "--checkpoint=fast", "--no-sync")
    time.sleep(LOAD_SECONDS)
    target, moment = question(server.url(), "SELECT clock_timestamp()::text, extract(epoch FROM clock_timestamp())")
    say(f"the moment: {target}")
    time.sleep(LOAD_SECONDS)
    say("kill -9 of the server; its disk is gone")
    server.lose()
    started = load.end_clients()
    load.end_host()
    shutil.rmtree(data)
    begun = time.monotonic()
    restore(server, base, target)
    took = time.monotonic() - begun
    before = [wid for wid, _, acknowledged in started if acknowledged < moment]
    lost = missing(server, before)
    late = question(server.url(), "SELECT count(*) FROM wed.trace WHERE tstmp > %s::timestamptz", target)[0]
    say(f"restored in {took:.1f} s; hosts and clients go on")
    load = Load(server)
    time.sleep(LOAD_SECONDS)
    after = [wid for wid, *_ in load.end_clients()]
    until("the end of all instances", lambda: question(
        server.url(), "SELECT count(*) FROM wed.instance WHERE status <> 'F'")[0] == 0, 300)
    load.end_host()
    lost_after = missing(server, after)
    doubled, unfinished = count_steps(server, f"steps > {STEPS}"), count_steps(server, f"steps < {STEPS}")
    gaps = count_steps(server, "rows <> newest")
    say("a first base backup of the restored server")
    server.run("pg_basebackup", "-D", server.folder / "next", "-d", server.url("postgres"), "-X", "none",
               "--checkpoint=fast", "--no-sync")
    print(f"\nacknowledged before the moment {len(before)}, lost {lost}; acknowledged after it, and given up "
          f"{len(started) - len(before)}, rows from after it {late}\nacknowledged after the restore {len(after)}, lost "
          f"{lost_after}; doubled {doubled}, unfinished {unfinished}, gaps in traces {gaps}; restored in {took:.1f} s")
    is_wrong = lost + late + lost_after + doubled + unfinished + gaps
    return 1 if is_wrong or not (before and after and len(started) > len(before)) else 0


def main():
    if not BINARIES:
        raise SystemExit("no Postgres below /usr/lib/postgresql: apt install postgresql")
    for file in (WED, COMPONENT):
        if not file.exists():
            raise SystemExit(f"{file} is missing: `make build` builds it")
    folder = Path(tempfile.mkdtemp(prefix="wedflow-restore-"))
    folder.chmod(0o755)
    server, code = Server(folder), 1
    try:
        code = run(server)
    finally:
        server.stop()
        if code == 0 and os.environ.get("KEEP") != "yes":
            shutil.rmtree(folder, ignore_errors=True)
        else:
            say(f"the folder is {folder}")
    sys.exit(code)


if __name__ == "__main__":
    main()
