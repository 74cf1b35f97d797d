"""The page of a trial: why it was proposed, why it waits, why it failed, what happens next."""

import html
import re

import pytest

SPACE = {"x": {"type": "float", "low": 0, "high": 1}, "y": {"type": "float", "low": 0, "high": 1}}
NEEDS = {"gpus": 1, "gpu_memory_gb": 24, "labels": {"pool": "lab"}}


def post(api, path, **sent):
    answer = api.post(f"/api/v1/{path}", json=sent)
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


def create(api, **changed):
    post(api, "studies", **{"name": "s", "task": "t", "space": SPACE, "max_trials": 40} | changed)


def lease(api, request, **sent):
    asked = {"worker": "w", "incarnation": "i", "request_id": request, "tasks": ["t"]} | sent
    [leased] = post(api, "leases", **asked, slot={"name": "cuda:0"})["leases"]
    return leased["lease_id"]


def card(api, name, number=0):
    """Return one card of a trial's page, as text."""
    page = api.get(f"/studies/s/trials/{number}").text
    [found] = re.findall(rf'<section class="card" id="{name}"[^>]*>(.*?)</section>', page, re.DOTALL)
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", found)).split())


def a_worker(api, name="w", **changed):
    told = {
        "incarnation": "i",
        "slots": [{"name": "cuda:0", "gpus": 1, "gpu_memory_gb": 24}],
        "tasks": [{"name": "t", "version": "1"}],
        "labels": {"pool": "lab"},
    }
    assert api.put(f"/api/v1/workers/{name}", json=told | changed).is_success


def test_a_proposed_trial_shows_the_numbers_that_decided(api):
    create(api, strategy={"name": "biased_random", "preset": "thesis"})
    for at in range(20):
        post(api, f"leases/{lease(api, f'r{at}')}/complete", value=float(20 - at))
    number, reasons = next(
        (at, found["reasons"])
        for at in range(19, 0, -1)
        if (found := api.get(f"/api/v1/studies/s/trials/{at}").json())["reasons"]["last_refused"]
    )
    said = card(api, "proposal", number)

    assert reasons["explanation"] in said
    assert f"Nearest trial {reasons['nearest_trial']} finished, at distance" in said
    assert f"Estimate {reasons['estimate']:g} its value" in said
    assert f"Draws {reasons['refused'] + 1} {reasons['refused']} of them refused" in said
    assert "The last that were refused before it" in said
    page = api.get(f"/studies/s/trials/{number}").text
    assert f'studies/s/landscape?after={reasons["watermark"]}"' in page
    for each in reasons["last_refused"]:
        assert f'title="{each["config"]["x"]}"' in page
    assert f'nearest, <a href="../../../studies/s/trials/{reasons["nearest_trial"]}' in page
    steps = card(api, "steps", number)
    assert steps.index("Proposed") < steps.index("Attempt 1") < steps.index(f"Result {float(20 - number)}")
    apart = 20 - number - reasons["estimate"]
    assert f"{'worse' if apart > 0 else 'better'} than the estimate by {abs(apart):g}" in steps


def test_a_rank_is_counted_up_to_a_hundred(api):
    create(api)
    ends = [{"config": {"x": at / 200, "y": 0}, "outcome": {"value": float(at)}} for at in range(150)]
    post(api, "studies/s/trials", trials=ends)

    assert "Value 99, rank 100 of 150." in api.get("/studies/s/trials/99").text
    assert "Value 100, not among the best 100 of 150." in api.get("/studies/s/trials/100").text


def test_a_queued_trial_says_the_first_need_that_nobody_meets(api):
    create(api, requires=NEEDS)
    post(api, "studies/s/trials", trials=[{"config": {"x": at / 10, "y": 0}} for at in range(3)])

    assert "No worker has registered task 't' yet" in card(api, "now")
    a_worker(api, "other", tasks=[{"name": "u"}])
    assert "No worker that is connected trains task 't'." in card(api, "now")
    a_worker(api, "other", labels={})
    assert "It needs a worker with the label pool=lab" in card(api, "now")
    a_worker(api, "other", slots=[{"name": "cuda:0", "gpus": 1, "gpu_memory_gb": 8}])
    assert "It needs 24 GB of GPU memory; the largest slot that could train it has 8 GB" in card(api, "now")
    a_worker(api, "other", slots=[{"name": "cpu"}])
    assert "It needs 1 GPU; the largest slot that could train it has 0 GPU" in card(api, "now")
    a_worker(api)
    assert api.patch("/api/v1/workers/w", json={"is_draining": True}).is_success
    a_worker(api, "other", labels={})
    assert "Every worker that could train it is draining." in card(api, "now")
    assert api.patch("/api/v1/workers/w", json={"is_draining": False}).is_success
    assert "1 slot could train it, on w; the next one that asks is given it." in card(api, "now")
    assert "It is the next of its study" in card(api, "now", 0)
    assert "2 trials of this study wait longer." in card(api, "now", 2)


def test_a_queued_trial_waits_for_a_slot_while_all_are_busy_and_for_a_paused_study(api):
    create(api)
    a_worker(api)
    post(api, "studies/s/trials", trials=[{"config": {"x": at / 10, "y": 0}} for at in range(2)])
    lease(api, "r")

    assert "1 slot could train it, on w, and all of them are busy." in card(api, "now", 1)
    assert api.patch("/api/v1/studies/s", json={"state": "paused"}).is_success
    assert "It is paused; resume it." in card(api, "now", 1)


def test_a_worker_of_another_version_does_not_count(api):
    create(api)
    a_worker(api)
    post(api, f"leases/{lease(api, 'r')}/complete", value=1.0)
    post(api, "studies/s/trials", trials=[{"config": {"x": 0.1, "y": 0}}])
    a_worker(api, incarnation="later", tasks=[{"name": "t", "version": "2"}])

    assert "The study has begun with version 1 of task 't'" in card(api, "now", 1)


def test_a_failed_trial_says_the_cause_the_rule_and_what_happens_next(api):
    create(api, max_attempts=2)
    for at in range(2):
        post(api, f"leases/{lease(api, f'r{at}')}/fail", kind="out_of_memory", message="no room\nleft")
        if not at:
            assert "It is tried again after out of memory." in card(api, "now")

    assert "Out of memory: no room. Up to 2 attempts are made, again after an error, out of memory" in card(
        api, "now"
    )
    attempts = card(api, "attempts")
    assert "It was tried again: attempt 2. Ask for more memory" in attempts
    assert "It was not tried again. Ask for more memory" in attempts
    assert "2 of at most 2" in attempts


def test_running_pruned_diverged_and_cancelled_trials_say_why(api):
    create(api, stopping={"rule": "threshold", "metric": "loss", "threshold": 5.0})
    running = lease(api, "r0", environment={"python": "3.12.3"})
    assert "It has reported nothing yet. The threshold rule watches its loss" in card(api, "now")
    post(api, f"leases/{running}/heartbeat", reports=[{"step": 4, "metrics": {"loss": 9.0}}])
    assert "Its last report, at step 4: loss 9." in card(api, "now")
    assert 'data-query="trials=0"' in api.get("/studies/s/trials/0").text
    assert "python 3.12.3" in card(api, "environment")

    post(api, f"leases/{running}/complete", pruned=True)
    assert "Stop: its loss at step 4, 9, is worse than 5, the threshold." in card(api, "now")
    post(api, f"leases/{lease(api, 'r1')}/complete", diverged="inf")
    assert "Its value was inf." in card(api, "now", 1)
    lease(api, "r2")
    assert api.patch("/api/v1/studies/s/trials/2", json={"state": "cancelled"}).is_success
    assert "A person ended it in attempt 1, for good." in card(api, "now", 2)


@pytest.mark.parametrize(
    "path", ["/", "/studies/s", "/studies/s/landscape", "/studies/s/trials", "/studies/s/trials/0"]
)
def test_the_command_for_a_worker_names_this_server(api, path):
    create(api)
    post(api, "studies/s/trials", trials=[{"config": {"x": 0.1, "y": 0}}])

    page = api.get(path).text
    if path != "/studies/s/trials":  # where there is something to see
        assert "<code>thiessen worker --server http://127.0.0.1</code>" in page
    assert "--server URL" not in page
