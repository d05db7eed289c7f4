"""A worker of a WED-flow in Python: any program with a Postgres connection can perform transitions.

    python worker.py --url "$(wed flow url orders)" --transition tr_a2 --set "a2='done'"

For more than a constant clause, derive from Worker and say what the transition does:

    class Charge(Worker):
        def wed_trans(self, payload):
            return "paid = true" if charge(payload["customer"]) else None
"""

import argparse
import logging
import signal
import sys
import time

import psycopg
from psycopg import sql

# Jobs looked at with one query.
PAGE = 100

# A page of the pending jobs of a transition that are due and in nobody's hands, as far as can be seen.
PENDING = """
    SELECT wid, tgid FROM job_pool
    WHERE trname = %s AND lckid IS NULL AND due <= clock_timestamp() AND (wid, tgid) > (%s, %s)
    ORDER BY wid, tgid LIMIT %s"""


class Worker:
    """Performs one transition of one flow, over one connection."""

    def __init__(self, url, transition, wakeup_interval=5):
        self.url = url
        self.transition = transition
        self.wakeup_interval = wakeup_interval
        # The current job, as (wid, tgid).
        self.job = None
        # Set by a signal, whose exception may be lost when it comes in the middle of a clean-up.
        self.stopping = False
        self.connection = None

    def stop_on_signals(self):
        """Ctrl-C, and the signal that services are stopped by: both end the transaction first. For the main thread.

        A transition that waits looks at ``stopping`` now and then: the exception may be lost in a clean-up.
        """

        def stop(*_):
            self.stopping = True
            raise KeyboardInterrupt

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)

    def wed_trans(self, payload):
        """The transition. The payload is the state that fired it, as a dict.

        Returns the SET clause of an UPDATE, or None to change nothing and leave the job pending.
        """
        raise NotImplementedError("derive from Worker and define wed_trans")

    def literal(self, value):
        """A value as it may stand in a SET clause, quoted."""
        return sql.Literal(value).as_string(self.connection)

    def run(self, limit=None):
        """Works for ever, or until it has performed `limit` transitions. Returns how many it has."""
        performed = 0
        while limit is None or performed < limit:
            try:
                with psycopg.connect(self.url, autocommit=True) as self.connection:
                    # Listen before looking: what comes in between is then heard.
                    self.connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self.transition)))
                    while limit is None or performed < limit:
                        before = performed
                        for job in self.pending():
                            performed += self.perform(*job)
                            if performed == limit:
                                break
                        if self.stopping:
                            raise KeyboardInterrupt
                        if performed == before:
                            self.wait()
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                if self.stopping:
                    raise KeyboardInterrupt from error
                self.say(f"no connection: {str(error).strip()}")
                time.sleep(min(1, self.wakeup_interval))
        return performed

    def pending(self):
        """The jobs there are, page by page, each once."""
        wid, tgid = 0, 0
        while True:
            page = self.connection.execute(PENDING, (self.transition, wid, tgid, PAGE)).fetchall()
            yield from page
            if len(page) < PAGE:
                return
            wid, tgid = page[-1]

    def wait(self):
        """Waits for a notification, but not longer than the wakeup interval.

        What a notification says does not matter: the pool is looked through anyway, and finds also what
        nobody was told about.
        """
        for _ in self.connection.notifies(timeout=self.wakeup_interval, stop_after=1):
            pass

    def perform(self, wid, tgid):
        """One job in one transaction. Returns whether it was performed."""
        self.job = (wid, tgid)
        try:
            with self.connection.transaction():
                return self.try_job(wid, tgid)
        except psycopg.Error as error:
            if self.connection.closed:
                raise
            self.say(f"{self.transition} of instance {wid} was refused: {error}")
        except Exception as error:  # whatever it was, the job is pending again
            self.say(f"{self.transition} of instance {wid} failed: {error!r}")
        finally:
            self.job = None
        return False

    def try_job(self, wid, tgid):
        granted = self.connection.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", (wid, tgid))
        if not granted.fetchone()[0]:
            return False
        # Read after the lock is held: the job may have been done, and fired anew, since it was listed.
        payload = self.connection.execute(
            "SELECT payload FROM job_pool WHERE wid = %s AND tgid = %s", (wid, tgid)
        ).fetchone()[0]
        clause = self.wed_trans(payload)
        if clause is None:
            raise psycopg.Rollback()
        # The clause is this worker's own text; a percent sign in it is no placeholder.
        update = sql.SQL("UPDATE wed_flow SET {} WHERE wid = %s").format(sql.SQL(clause.replace("%", "%%")))
        self.connection.execute(update, (wid,))
        return True

    def say(self, text):
        print(text, file=sys.stderr, flush=True)


class Constant(Worker):
    """Sets the same clause whatever the state is."""

    def __init__(self, *args, clause, **kwargs):
        super().__init__(*args, **kwargs)
        self.clause = clause

    def wed_trans(self, payload):
        return self.clause


def main():
    parser = argparse.ArgumentParser(description="Perform one transition of a WED-flow.")
    parser.add_argument("--url", required=True, help="what `wed flow url FLOW` prints")
    parser.add_argument("--transition", required=True, metavar="NAME", help="as in wed_trig.trname")
    parser.add_argument("--set", required=True, metavar="CLAUSE", help="for example: a2='done'")
    parser.add_argument("--once", type=int, metavar="N", help="end after N transitions")
    parser.add_argument("--wakeup", type=float, default=5, metavar="SECONDS",
                        help="look for jobs at least so often (default: 5)")
    arguments = parser.parse_args()
    worker = Constant(arguments.url, arguments.transition, arguments.wakeup, clause=arguments.set)

    # A signal in the middle of a statement: the driver warns of the rollback that the server does anyway.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    worker.stop_on_signals()
    try:
        worker.say(f"performed {worker.run(arguments.once)} transitions")
    except KeyboardInterrupt:
        worker.say("stopped")


if __name__ == "__main__":
    main()
