"""Completes a study through a client that openapi-python-client made: GENERATED is its package.

Run in the environment of the generator; says the losses it told, one a line.
"""

import sys
from importlib import import_module

folder, package, address = sys.argv[1:]
sys.path.insert(0, folder)

Client = import_module(f"{package}.client").Client
models = import_module(f"{package}.models")


def call(group: str, name: str, *path: object, body: object = None):
    options = {} if body is None else {"body": body}
    function = import_module(f"{package}.api.{group}.{name}")
    answer = function.sync_detailed(*path, client=client, **options)
    assert answer.status_code.value < 300, answer.content
    return answer.parsed


client = Client(base_url=address, raise_on_unexpected_status=True)
space = {"x": {"type": "float", "low": 0.0, "high": 1.0}}
spec = models.StudySpec.from_dict({"name": "made", "task": "t", "space": space, "max_trials": 5})
assert call("studies", "create_study", body=spec).state.value == "active"
worker = models.WorkerSpec.from_dict({"incarnation": "i", "tasks": [{"name": "t"}]})
call("workers", "register_worker", "w", body=worker)
for number in range(6):
    wanted = models.LeaseRequest(worker="w", incarnation="i", request_id=f"r{number}", tasks=["t"])
    for lease in call("leases", "lease", body=wanted).leases:
        x = lease.config.to_dict()["x"]
        point = models.Heartbeat.from_dict({"reports": [{"step": 1, "metrics": {"loss": x}}]})
        assert call("leases", "heartbeat", lease.lease_id, body=point).verdict.value == "continue"
        call("leases", "complete", lease.lease_id, body=models.Loss(loss=(x - 0.3) ** 2))
        sys.stdout.write(f"{(x - 0.3) ** 2}\n")
study = call("studies", "read_study", "made")
assert (study.state.value, study.counts.succeeded) == ("completed", 5)
best = call("studies", "best", "made").best
assert [each.rank for each in best] == [1, 2, 3, 4, 5]
trial = call("studies", "read_trial", "made", 0)
assert trial.attempts[0].reports[0].step == 1
absent = import_module(f"{package}.api.studies.read_study").sync_detailed("absent", client=client)
assert absent.status_code.value == 404
assert "There is no study" in absent.parsed.detail
