"""`thiessen worker` as it is, with a ledger: what it asks for and is given, spools and is answered.

The ledger is for the verdict only. What a daemon that was killed goes on from is its own spool.
"""

import sys
from pathlib import Path

from tests.chaos.ledger_worker import Ledger, Servers
from thiessen.cli.main import main as thiessen
from thiessen.client import Client
from thiessen.contract import Failure
from worker.spool import FOR_GOOD, Result, Spool

AGREED, REFUSED = 204, 409


def keep_ledger(ledger):
    """Write down what the daemon does before anything else can happen to it."""
    lease, keep, tell = Client.lease, Spool.keep, Result.tell

    def leased(self, request):
        asked = {"incarnation": request.incarnation}
        ledger.write(ask=request.request_id, **asked)
        leases = lease(self, request)
        ledger.write(asked=request.request_id, **asked, given=[each.lease_id for each in leases])
        return leases

    def kept(self, result):
        keep(self, result)
        if result.ending is None:  # a part of a curve, which the verdict does not judge
            return
        ledger.write(tell=result.lease_id, ending=_ending(result))

    def told(self, client):
        if self.ending is None:
            tell(self, client)
            return
        line = {"told": self.lease_id, "ending": _ending(self)}
        try:
            tell(self, client)
        except FOR_GOOD:
            ledger.write(**line, status=REFUSED)
            raise
        ledger.write(**line, status=AGREED)

    Client.lease, Spool.keep, Result.tell = leased, kept, told


def _ending(result):
    body = result.ending.model_dump(mode="json", exclude_unset=True)
    return {"verb": "fail" if isinstance(result.ending, Failure) else "complete", "body": body}


def main(name, ledger, spool, idle_seconds, port):
    Servers([int(port)]).ask("GET", "/studies")  # a daemon that finds no server gives up
    keep_ledger(Ledger(Path(ledger)))
    sys.argv[1:] = ["worker", "--server", f"http://127.0.0.1:{port}", "--name", name, "--spool-dir", spool,
                    "--idle-exit", idle_seconds]  # fmt: skip
    thiessen()


if __name__ == "__main__":
    main(*sys.argv[1:])
