"""No page of the dashboard reads more of a study than it shows."""

import html
import re

import pytest

MOST = {"sqlite": 6_000, "postgresql": 150}  # instructions, rows; of a whole study 20 times it


@pytest.mark.row(253)
def test_every_page_of_the_dashboard_reads_about_what_it_shows(large, reads, database):
    most = MOST[database.partition(":")[0].partition("+")[0]]
    waiting = [{"config": {"x": at / 1000 + 1e-6}} for at in range(600)]
    large.post("/api/v1/studies/s/trials", json={"trials": waiting}).raise_for_status()
    [older] = re.findall(r'href="([^"]*cursor=[^"]*)"', large.get("/studies/s/trials?filter=value>20").text)
    for name in ("t", "u"):
        study = {"name": name, "task": "t", "space": {"x": {"type": "boolean"}}}
        large.post("/api/v1/studies", json=study).raise_for_status()
        running = {"worker": "w", "incarnation": "i", "request_id": name, "tasks": ["t"], "studies": [name]}
        assert large.post("/api/v1/leases", json=running).json()["leases"]
    large.put("/api/v1/workers/w", json={"incarnation": "i", "tasks": [{"name": "t"}]}).raise_for_status()
    for path in (
        "/",
        "/?q=s",
        "/studies/s",
        "/studies/s/landscape",
        "/studies/s/trials",
        f"/studies/s/trials{html.unescape(older)}",
        "/studies/s/trials?filter=state:failed",
        "/studies/s/trials?filter=origin:imported",
        "/studies/s/trials?filter=value<100+value>90",
        "/studies/s/trials?filter=value>90&sort=-loss",
        "/studies/s/trials?filter=number>9000",
        "/studies/s/trials?filter=state:pruned+number<9000",
        "/studies/s/trials?filter=9999",
        "/studies/s/trials?sort=-finished&trials=1,2,3",
        "/studies/s/compare?trials=3,777,9999",
        "/studies/s/trials/9999",
        "/studies/s/trials/20590",
        "/workers",
        "/workers/w",
        "/new",
        "/compare",
        "/compare?study=s&study=t",
        "/settings/tokens",
    ):
        found = reads(lambda path=path: large.get(path).raise_for_status())
        assert found
        assert [read.scans for read in found if read.scans] == [], path
        assert max(read.work for read in found) < most, (path, max(found, key=lambda read: read.work))
