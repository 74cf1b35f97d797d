"""No page of trials reads more of a study than it shows."""

from datetime import datetime
from itertools import product

import pytest
from sqlalchemy import select, text

from app.domain.listing import Listing, Sort
from app.lifecycle.browse import _closed
from app.storage import studies
from app.storage.tables import studies as studies_table

MOST = {
    "sqlite": 6_000,
    "postgresql": 150,
}  # for a page of 10: instructions, rows; of a whole study 20 times it
SORTS = ("number", "-number", "loss", "-loss", "finished", "-finished")
STATES = (None, "succeeded", "failed", "queued")


def listed(api, **query):
    given = {name: value for name, value in query.items() if value is not None}
    return api.get("/api/v1/studies/s/trials", params={"limit": 10, **given})


def cases():
    for sort, state in product(SORTS, STATES):
        if "loss" not in sort or state in {None, "succeeded"}:
            yield {"sort": sort, "state": state}
    yield from ({"sort": sort, "origin": "imported"} for sort in ("number", "-number"))


@pytest.mark.row(253)
def test_every_page_of_every_list_reads_about_what_it_shows(large, reads, database):
    most = MOST[database.partition(":")[0].partition("+")[0]]
    for case in cases():
        first = listed(large, **case).json()
        deep = first["next"] and cursor_near_the_end(large, case)
        for cursor in {None, deep}:
            found = reads(lambda case=case, cursor=cursor: listed(large, cursor=cursor, **case))
            assert [read.scans for read in found if read.scans] == [], case
            assert max(read.work for read in found) < most, (case, max(found, key=lambda read: read.work))


def cursor_near_the_end(api, case):
    """Return the cursor of the page that the list ends with when it is turned round."""
    turned = case["sort"][1:] if case["sort"].startswith("-") else f"-{case['sort']}"
    last = listed(api, **case | {"sort": turned}).json()["trials"][-1]
    listing = Listing(sort=Sort(case["sort"]), state=case.get("state"), origin=case.get("origin"))
    study = api.app.state.house.store.read(lambda tx: studies.named(tx, "default", "s"))
    finished = datetime.fromisoformat(last["finished_at"])
    keys = {Sort.NUMBER: (), Sort.LOSS: (last["loss"],), Sort.FINISHED: (finished,)}
    return _closed(study, listing, (*keys[listing.sort.upward], last["trial"]))


def test_a_list_of_studies_reads_none_of_the_searches_beside_them(large, database):
    arms = [{"label": label, "settings": {"kind": label}} for label in ("a", "b")]
    spec = {"name": "c", "task": "t", "space": {"x": {"type": "float", "low": 0, "high": 1}}, "arms": arms}
    spec |= {"budget": {"trials": 5}, "replicates": 100, "strategy": "random"}
    assert large.post("/api/v1/comparisons", json=spec).status_code == 201
    of = studies_table.c
    listed = select(of.id).where(of.project_id == 1, of.comparison_id.is_(None)).order_by(of.id.desc())

    def plan(tx):
        tx.execute(text("ANALYZE studies"))
        query = listed.limit(5).compile(tx.engine, compile_kwargs={"literal_binds": True})
        explain = "EXPLAIN QUERY PLAN" if database.startswith("sqlite") else "EXPLAIN"
        return " ".join(str(row) for row in tx.execute(text(f"{explain} {query}")))

    assert "studies_listed" in large.app.state.house.store.write(plan)
    assert [each["name"] for each in large.get("/api/v1/studies").json()["studies"]] == ["s"]
