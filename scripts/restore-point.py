#!/usr/bin/python3
"""Follows the runbook "restore to a point in time" once, under load: a base backup and an archive of the write-ahead
log, a moment, the loss of the server and its disk, a restore to that moment, and work that goes on. Checks that nothing
that was acknowledged before the moment is lost, nothing from after it is there, and nothing is done twice.

SECONDS=5     load before the backup, before the moment, after it, and after the restore
KEEP=no       yes: leaves the folder"""

import os
import shutil
import sys
import threading
import time

from servers import Client, Server, at, bring_flow, check, end, give, need_programs, question, say, scratch, \
    start_host, wed

LOAD_SECONDS = float(os.environ.get("SECONDS", "5"))


class Load:
    """A host and two clients."""

    def __init__(self, server):
        flow = wed(at(server.url()), "flow", "url", "counters")
        self.host = start_host(at(server.url()), cwd=server.folder)
        self.stops = threading.Event()
        self.clients = [Client(lambda: flow, self.stops) for _ in range(2)]
        for client in self.clients:
            client.start()

    def end_clients(self):
        self.stops.set()
        for client in self.clients:
            client.join()
        return [one for client in self.clients for one in client.started]


def back_up(server, name):
    server.run("pg_basebackup", "-D", server.folder / name, "-d", server.url("postgres"), "-X", "none",
               "--checkpoint=fast", "--no-sync")


def restore(server, base, target):
    """Starts the backup as the server, up to the moment."""
    folder = server.folder / base
    with open(folder / "postgresql.auto.conf", "a") as settings:
        settings.write(f"restore_command = 'cp {server.folder}/archive/%f %p'\n"
                       f"recovery_target_time = '{target}'\nrecovery_target_action = 'promote'\n")
    (folder / "recovery.signal").touch()
    give(folder / "recovery.signal")
    server.start(base)


def run(server):
    say("a server with an archive, a flow, a host and clients")
    server.make().start()
    wed(at(server.url()), "migrate")
    bring_flow(at(server.url()))
    load = Load(server)
    time.sleep(LOAD_SECONDS)
    say("a base backup under load")
    back_up(server, "base")
    time.sleep(LOAD_SECONDS)
    target, moment = question(server.url(), "SELECT clock_timestamp()::text, extract(epoch FROM clock_timestamp())")
    say(f"the moment: {target}")
    time.sleep(LOAD_SECONDS)
    say("kill -9 of the server; its disk is gone")
    server.lose()
    started = load.end_clients()
    end(load.host)
    shutil.rmtree(server.folder / "data")
    begun = time.monotonic()
    restore(server, "base", target)
    took = time.monotonic() - begun
    before = [wid for wid, _, acknowledged in started if acknowledged < moment]
    late = question(server.url(), "SELECT count(*) FROM wed.trace WHERE tstmp > %s::timestamptz", target)[0]
    say(f"restored in {took:.1f} s; hosts and clients go on")
    load = Load(server)
    time.sleep(LOAD_SECONDS)
    after = [wid for wid, *_ in load.end_clients()]
    found = check(server.url(), "default", before + after)
    end(load.host)
    say("a first base backup of the restored server")
    back_up(server, "next")
    print(f"\nacknowledged before the moment {len(before)}, after it and given up {len(started) - len(before)}, after "
          f"the restore {len(after)}\nlost {found['lost']}, rows from after the moment {late}, doubled {found['doubled']}, "
          f"unfinished {found['unfinished']}, gaps in traces {found['gaps']}; restored in {took:.1f} s")
    is_wrong = late + sum(found[kind] for kind in ("lost", "doubled", "unfinished", "gaps"))
    return 1 if is_wrong or not (before and after and len(started) > len(before)) else 0


def main():
    need_programs()
    with scratch("restore") as folder:
        archive = folder / "archive"
        archive.mkdir()
        give(archive)
        server = Server(folder, ["archive_mode=on", "archive_timeout=1",
                                 f"archive_command=test ! -f {archive}/%f && cp %p {archive}/%f"])
        try:
            sys.exit(run(server))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
