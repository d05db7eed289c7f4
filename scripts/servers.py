"""Servers, commands and load of the scripts that measure and demonstrate: a throw-away Postgres, `wed`, clients that
start instances of the sample `counters`, and the check of what became of these."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg2

ROOT = Path(__file__).resolve().parent.parent
WED = Path(os.environ.get("WED", ROOT / "target/release/wed"))
COMPONENT = ROOT / "sample-transitions/target/wasm32-wasip2/release/counters.wasm"
FLOW = ROOT / "sample-transitions/counters/flow.toml"
# Transitions of an instance, in whatever order.
STEPS = 12
BINARIES = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name), default=None)
ACCOUNT = pwd.getpwnam("postgres") if os.getuid() == 0 else None
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def say(text):
    print(f"· {text}", flush=True)


def until(what, look, most=90.0):
    """Looks again and again; ends the script when it finds nothing for too long."""
    end = time.monotonic() + most
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise SystemExit(f"waited {most:.0f} s for: {what}")


def need_programs():
    for file in (WED, COMPONENT):
        if not file.exists():
            raise SystemExit(f"{file} is missing: `make build` builds it")
    if not BINARIES:
        raise SystemExit("no Postgres below /usr/lib/postgresql: apt install postgresql")


@contextmanager
def scratch(name):
    """A folder for the script, which stays when it fails, and with KEEP=yes."""
    folder = Path(tempfile.mkdtemp(prefix=f"wedflow-{name}-"))
    folder.chmod(0o755)
    give(folder)
    try:
        yield folder
    except BaseException as error:
        if not isinstance(error, SystemExit) or error.code:
            say(f"the folder is {folder}")
            raise
    if os.environ.get("KEEP") != "yes":
        shutil.rmtree(folder, ignore_errors=True)


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def as_account():
    """Lets the calling process be Postgres's account, for it refuses to be root."""
    if ACCOUNT:
        os.setgid(ACCOUNT.pw_gid)
        os.setuid(ACCOUNT.pw_uid)


def give(path):
    """Gives a file or folder to Postgres's account."""
    if ACCOUNT:
        shutil.chown(path, ACCOUNT.pw_uid, ACCOUNT.pw_gid)


def kill_postgres(pid):
    """Ends all processes of a server at once, as a machine that loses its power does."""
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout
    for one in [pid, *map(int, children.split())]:
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Server:
    """A throw-away Postgres, its files and log in a folder of its own. `enter` is called by its first process."""

    def __init__(self, folder, settings=(), enter=as_account):
        self.folder, self.settings, self.enter, self.process = folder, settings, enter, None
        folder.mkdir(exist_ok=True)
        give(folder)
        self.port = free_ports(1)[0]

    def run(self, program, *arguments):
        subprocess.run([BINARIES / program, *map(str, arguments)], preexec_fn=as_account, cwd=self.folder, check=True,
                       **QUIET)

    def make(self, data="data"):
        self.run("initdb", "-D", self.folder / data, "-U", "postgres", "--auth=trust", "--no-sync")
        return self

    def start(self, data="data"):
        log = open(self.folder / "log", "ab")
        settings = ["listen_addresses=127.0.0.1", "max_connections=300", "jit=off", *self.settings]
        self.process = subprocess.Popen(
            [BINARIES / "postgres", "-D", self.folder / data, "-p", str(self.port), "-k", self.folder,
             *(word for setting in settings for word in ("-c", setting))],
            preexec_fn=self.enter, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True)
        until("the server", self.takes_writes)
        return self

    def takes_writes(self):
        if self.process.poll() is not None:
            raise SystemExit(f"the server has ended; its log is {self.folder / 'log'}")
        return takes_writes(self.url("postgres"))

    def url(self, database="wedflow"):
        return f"postgres://postgres@127.0.0.1:{self.port}/{database}"

    def lose(self):
        kill_postgres(self.process.pid)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()


def takes_writes(url):
    try:
        return question(url, "SELECT NOT pg_is_in_recovery()")[0]
    except psycopg2.Error:
        return False


def question(url, text, *values):
    connection = psycopg2.connect(url, connect_timeout=5)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(text, values or None)
            return cursor.fetchone() if cursor.description else None
    finally:
        connection.close()


def at(url):
    """The place of a command: a database."""
    return {"DATABASE_URL": url}


def environment(place):
    """The environment of a command at a place, whatever place the script's own environment names."""
    places = ("DATABASE_URL", "WEDFLOW_DIRECTORY", "WEDFLOW_SERVER", "WEDFLOW_TOKEN", "WEDFLOW_CONTEXT")
    return {**{name: value for name, value in os.environ.items() if name not in places}, **place}


def wed(place, *arguments, tenant=None):
    command = [WED, *(["--tenant", tenant] if tenant else []), *map(str, arguments)]
    done = subprocess.run(command, env=environment(place), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"wed {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout.strip()


def bring_flow(place, tenant=None):
    """Applies the sample's flow, uploads its component, and returns the flow's address."""
    wed(place, "flow", "apply", FLOW, tenant=tenant)
    wed(place, "component", "push", COMPONENT, "--name", "counters", tenant=tenant)
    return wed(place, "flow", "url", "counters", tenant=tenant)


def start_host(place, *arguments, **options):
    return subprocess.Popen([WED, "--quiet", "serve", "--lanes", "1", *map(str, arguments)],
                            env=environment(place), **QUIET, **options)


def end(process):
    process.terminate()
    process.wait()


class Client(threading.Thread):
    """Starts instances in SQL all the time, as many as keep hosts at work, and always one. Remembers each with the
    moments at which it was asked for and acknowledged. `find_flow` is asked for the flow's address whenever it has no
    session."""

    def __init__(self, find_flow, stops, jobs=150):
        super().__init__(daemon=True)
        self.find_flow, self.stops, self.jobs = find_flow, stops, jobs
        self.started, self.unanswered = [], 0

    @property
    def acknowledged(self):
        return [wid for wid, *_ in self.started]

    def run(self):
        connection = None
        while not self.stops.is_set():
            asked = time.time()
            try:
                connection = connection or psycopg2.connect(self.find_flow(), connect_timeout=2)
                with connection.cursor() as cursor:
                    cursor.execute("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, greatest(1, (%(jobs)s"
                                   " - (SELECT count(*) FROM (SELECT FROM job_pool LIMIT %(jobs)s) p))::integer / 3))"
                                   " RETURNING wid", {"jobs": self.jobs})
                    wids = [row[0] for row in cursor.fetchall()]
                connection.commit()
                now = time.time()
                self.started += [(wid, asked, now) for wid in wids]
                time.sleep(0.05)
            except (psycopg2.Error, SystemExit):
                self.unanswered += 1
                if connection:
                    connection.close()
                connection = None
                time.sleep(0.1)


def check(url, tenant, acknowledged):
    """Waits until all instances of a tenant are final, and counts what is wrong with them."""
    own = f"SELECT f.flow_id FROM wed.flow f JOIN wed.tenant t USING (tenant_id) WHERE t.name = '{tenant}'"
    ask = lambda text, *values: question(url, "SELECT count(*) FROM " + text, *values)[0]
    until(f"the end of all instances of {tenant}", lambda: ask(
        f"wed.instance WHERE status <> 'F' AND flow_id IN ({own})") == 0, 300)
    traces = ("(SELECT count(*) FILTER (WHERE trw NOT LIKE '\\_%') AS steps, count(*) AS rows, max(seq) AS newest "
              f"FROM wed.trace WHERE flow_id IN ({own}) GROUP BY wid) i WHERE ")
    return {"acknowledged": len(acknowledged),
            "lost": ask("unnest(%s::int[]) AS a(wid) WHERE NOT EXISTS (SELECT FROM wed.instance i WHERE i.wid = a.wid "
                        f"AND i.status = 'F' AND i.flow_id IN ({own}))", acknowledged),
            "doubled": ask(f"{traces} steps > {STEPS}"), "unfinished": ask(f"{traces} steps < {STEPS}"),
            "gaps": ask(f"{traces} rows <> newest")}
