"""No page of the dashboard reads more of a study than it shows."""

MOST = {"sqlite": 6_000, "postgresql": 150}  # instructions, rows; of a whole study 20 times it


def test_every_page_of_the_dashboard_reads_about_what_it_shows(large, reads, database):
    most = MOST[database.partition(":")[0].partition("+")[0]]
    older = large.get("/studies/s").text.split("cursor=")[1].split("#")[0]
    for name in ("t", "u"):
        study = {"name": name, "task": "t", "space": {"x": {"type": "boolean"}}}
        large.post("/api/v1/studies", json=study).raise_for_status()
        running = {"worker": "w", "incarnation": "i", "request_id": name, "tasks": ["t"], "studies": [name]}
        assert large.post("/api/v1/leases", json=running).json()["leases"]
    large.put("/api/v1/workers/w", json={"incarnation": "i", "tasks": [{"name": "t"}]}).raise_for_status()
    for path in (
        "/",
        "/studies/s",
        f"/studies/s?cursor={older}",
        "/studies/s?state=failed",
        "/studies/s/trials/9999",
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
