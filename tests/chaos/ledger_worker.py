"""A worker that trains nothing and remembers everything: its ledger is on disk before and after each request.

Killed and started again it goes on where its ledger ends. It repeats requests, is silent for too long, gives
trials back and breaks them, all at random. It writes down every answer that it should never have been given.
"""

import json
import os
import random
import sys
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Lock

from app import failpoint

PATIENCE_SECONDS = 5.0  # with one answer; a server that is killed says nothing more
AGAIN_SECONDS = 0.05
STEP_SECONDS = (0.0, 0.04)
LONG_EVERY = 12  # trials
IN_VAIN = 2400  # calls in a row; the conductor would have started the server again long before
NOBODY = 0  # the status of an answer that did not come
DIVERGED = 0.9  # from here on x diverges
INCARNATION = "1"  # killed and started again it is the same worker
METRIC = "m"  # by which trials are pruned
POINTS = 2  # of the curve of a short trial


class Ledger:
    """Lines of JSON, each on the disk before the next thing happens."""

    def __init__(self, path):
        self._file = path.open("a+b")
        self._writing = Lock()  # a daemon has several threads
        self._file.seek(0)
        self._file.truncate(self._file.read().rfind(b"\n") + 1)  # half a line says nothing
        self.lines = read(path)

    def write(self, **line):
        with self._writing:
            self._file.write(json.dumps(line).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
            self.lines.append(line)


def read(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


class Servers:
    """Whichever of them answers."""

    def __init__(self, ports, patience_seconds=PATIENCE_SECONDS):
        self._ports = ports
        self._patience_seconds = patience_seconds
        self._connection = None

    def post(self, path, body):
        return self.ask("POST", path, body)

    def ask(self, method, path, body=None):
        """Return status and answer of the first server that has one; 503 and silence are asked again."""
        for _ in range(IN_VAIN):
            status, answer = self.ask_once(method, path, body)
            if status not in {NOBODY, 503}:
                break
            time.sleep(AGAIN_SECONDS)
        return status, answer

    def ask_once(self, method, path, body=None):
        try:
            return self._exchange(method, path, body)
        except (OSError, HTTPException):
            self.close()
            return NOBODY, {}

    def close(self):
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _exchange(self, method, path, body):
        self._connection = self._connection or HTTPConnection(
            "127.0.0.1", random.choice(self._ports), timeout=self._patience_seconds
        )
        headers = {"Content-Type": "application/json"}
        self._connection.request(method, f"/api/v1{path}", json.dumps(body), headers)
        response = self._connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text else {}


class Worker:
    """One slot: leases, trains, ends the attempt, from where its ledger ends."""

    def __init__(self, name, ledger, servers, lease_seconds):
        self.name, self.ledger, self.servers, self.lease_seconds = name, ledger, servers, lease_seconds

    def settle(self):
        """Finish what the process before has begun: ask again what was asked, tell again what was told."""
        last = self.ledger.lines[-1] if self.ledger.lines else {}
        if "ask" in last:
            self.lease(last["ask"])
        elif "tell" in last:
            self.tell(last)

    def work(self, stop):
        number = sum("ask" in line for line in self.ledger.lines)
        while not stop.exists():
            self.ledger.write(ask=f"{number}")
            number += 1
            for lease in self.lease(f"{number - 1}"):
                self.train(lease)

    def lease(self, request_id):
        """Ask for a trial, which the ledger has announced; the same request has the same answer."""
        wish = {"worker": self.name, "incarnation": INCARNATION, "request_id": request_id, "tasks": ["chaos"],
                "wait_seconds": 0.5}  # fmt: skip
        status, answer = self.servers.post("/leases", wish)
        given = [lease["lease_id"] for lease in answer.get("leases", [])]
        self.ledger.write(asked=request_id, status=status, given=given)
        if status not in {200, 409}:
            self.ledger.write(wrong=f"request {request_id} was answered with {status} {answer}")
        if given and random.random() < 0.1:
            self._repeat_wish(wish, given)
        return answer.get("leases", [])

    def _repeat_wish(self, wish, given):
        status, answer = self.servers.post("/leases", wish)
        again = [lease["lease_id"] for lease in answer.get("leases", [])]
        if again != given and status != 409:
            self.ledger.write(wrong=f"{wish['request_id']} was given {given}, then {again} with {status}")

    def train(self, lease):
        """Train for a moment and tell how it ended; some trials go beyond their lease, heard of or silent."""
        pauses = [random.uniform(*STEP_SECONDS)] * POINTS
        if lease["trial"] % LONG_EVERY == 0 and random.random() < 0.5:
            pauses = []
            time.sleep(self.lease_seconds * random.uniform(1.1, 2.0))
        elif lease["trial"] % LONG_EVERY == 0:
            pauses = [self.lease_seconds / 3] * 6
        ending = self.follow(lease, pauses)
        if ending is None:
            return
        line = {"tell": lease["lease_id"], "ending": ending}
        self.ledger.write(**line)
        failpoint.reached("noted")
        self.tell(line)

    def follow(self, lease, pauses):
        """Report a point of the curve after each pause; return how the attempt ends, None if never."""
        for step, pause in enumerate(pauses):
            time.sleep(pause)
            point = lease["config"]["x"] + step
            reports = [{"step": step, "metrics": {METRIC: point}}]
            status, answer = self.servers.post(f"/leases/{lease['lease_id']}/heartbeat", {"reports": reports})
            if status not in {200, 409}:
                self.ledger.write(wrong=f"a heartbeat of {lease} was answered with {status} {answer}")
            if status == 409 and random.random() < 0.5:  # else its result comes late
                return None
            if answer.get("verdict") == "prune":
                return _pruned(lease, point)
        return _ending(lease)

    def tell(self, line):
        """Tell how an attempt ended, which is in the ledger already, and write down what was answered."""
        lease_id, ending = line["tell"], line["ending"]
        verb, body = ending["verb"], ending["body"]
        status, answer = self.servers.post(f"/leases/{lease_id}/{verb}", body)
        self.ledger.write(told=lease_id, ending=ending, status=status)
        if status not in {204, 409}:
            self.ledger.write(wrong=f"{verb} of {lease_id} was answered with {status} {answer}")
        elif random.random() < 0.1:
            again, answer = self.servers.post(f"/leases/{lease_id}/{verb}", body)
            if again != status and status == 204:  # a refused one may count by now
                self.ledger.write(wrong=f"{verb} of {lease_id}: {status}, then {again} {answer}")


def _ending(lease):
    """Return how an attempt ends: by chance, and a result by its config and the number of the attempt."""
    fate = random.random()
    if fate < 0.03:
        return {"verb": "release", "body": {}}
    if fate < 0.06:
        return {"verb": "fail", "body": {"kind": "error", "message": "by chance", "retry": fate < 0.055}}
    x = lease["config"]["x"]
    body = {"diverged": "nan"} if x >= DIVERGED else {"loss": x + lease["attempt"]}
    return {"verb": "complete", "body": body}


def _pruned(lease, last):
    """Return how a pruned attempt ends: with a value of its own, or with the last that it reported."""
    if random.random() < 0.5:
        return {"verb": "complete", "body": {"pruned": True}, "last": last}
    return {"verb": "complete", "body": {"pruned": True, "value": last + lease["attempt"]}}


def main(name, ledger, stop, lease_seconds, *ports):
    worker = Worker(name, Ledger(Path(ledger)), Servers([int(port) for port in ports]), float(lease_seconds))
    worker.settle()
    worker.work(Path(stop))


if __name__ == "__main__":
    main(*sys.argv[1:])
