"""A process of the race: claims trials and completes them until there are none. Prints what it was given."""

import http.client
import json
import sys


def main(address: str, worker: str) -> None:
    line = http.client.HTTPConnection(address, timeout=60)
    for turn in range(10_000):
        request = {"worker": worker, "incarnation": "i", "request_id": f"{worker}-{turn}", "tasks": ["t"]}
        leases = post(line, "leases", request, 200)["leases"]
        if not leases:
            return
        for lease in leases:
            loss = lease["config"]["x"]
            post(line, f"leases/{lease['lease_id']}/complete", {"loss": loss}, 204)
            sys.stdout.write(f"{lease['study']} {lease['trial']} {lease['attempt']}\n")


def post(line, path, body, status):
    line.request("POST", f"/api/v1/{path}", json.dumps(body), {"Content-Type": "application/json"})
    answer = line.getresponse()
    text = answer.read()
    if answer.status != status:
        raise SystemExit(f"{path}: {answer.status} {text[:500]!r}")
    return json.loads(text or "null")


if __name__ == "__main__":
    main(*sys.argv[1:])
