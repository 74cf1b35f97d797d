"""Exports: everything of a study, as it stood when the export began."""

import csv
import io
import json

import pytest
from pyarrow import parquet

from app.api import export as exporting
from app.lifecycle import export as exports
from tests.api.conftest import FIRST, SECOND, SPACE, lease, post
from thiessen.search.record import Record


def export(api, kind="json"):
    answer = api.get("/api/v1/studies/s/export", params={"format": kind})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"] == f'attachment; filename="s.{kind}"'
    return answer


@pytest.mark.row(259)
def test_the_document_is_a_record_and_holds_all_that_is_known_of_a_trial(varied):
    document = export(varied).json()

    record = Record.from_json(document)
    assert [trial.config for trial in record.trials] == [FIRST, SECOND]
    assert [each.outcome for each in record.observations] == ["succeeded", "succeeded"]
    assert document["study"]["name"] == "s"
    assert document["watermark"] == 2
    second = document["trials"][1]
    assert (second["state"], second["loss"], second["value"], second["origin"]) == (
        "succeeded", 0.5, -0.5, "enqueued",
    )  # fmt: skip
    failed, ended = second["attempts"]
    assert (failed["outcome"], failed["traceback"]) == ("error", "line 1")
    assert ended["reports"] == [{"step": 1, "metrics": {"loss": "NaN"}}]
    assert "lease_id" not in str(document)


def test_a_table_has_a_column_for_each_dimension(varied):
    lines = list(csv.DictReader(io.StringIO(export(varied, "csv").content.decode(), newline="")))

    assert [line["config.größe"] for line in lines] == ["3", "4"]
    assert [line["config.damping"] for line in lines] == ["", "0.25"]
    assert [line["config.bias"] for line in lines] == ["true", "false"]
    assert [(line["value"], line["loss"], line["attempts"]) for line in lines] == [
        ("2.5", "-2.5", "0"), ("-0.5", "0.5", "2"),
    ]  # fmt: skip


def test_no_cell_of_a_table_is_computed_by_a_spreadsheet(varied):
    lines = list(csv.DictReader(io.StringIO(export(varied, "csv").content.decode(), newline="")))

    assert [line["config.opt"] for line in lines] == ["'=1+1", "'@kfac"]
    assert lines[0]["notes"] == '\'-x, "y"\n'


@pytest.mark.row(259)
def test_a_parquet_file_has_the_types_of_the_dimensions(varied):
    table = parquet.read_table(io.BytesIO(export(varied, "parquet").content))

    rows = table.to_pylist()
    assert [row["config.lr"] for row in rows] == [-0.5, 0.5]
    assert [row["config.größe"] for row in rows] == [3, 4]
    assert [row["config.opt"] for row in rows] == ["=1+1", "@kfac"]
    assert [row["config.mixed"] for row in rows] == ["null", '"a"']
    assert [row["config.damping"] for row in rows] == [None, 0.25]
    assert rows[1]["state"] == "succeeded"
    assert rows[1]["finished_at"] > rows[0]["created_at"]


def test_without_the_package_parquet_is_refused_by_the_name_of_the_extra(varied, monkeypatch):
    monkeypatch.setattr(exporting, "find_spec", lambda _: None)

    refused = varied.get("/api/v1/studies/s/export", params={"format": "parquet"})

    assert refused.status_code == 422
    assert "pip install 'thiessen[server,parquet]'" in refused.json()["detail"]


def test_pages_of_any_size_make_the_same_export(varied, monkeypatch):
    at_once = {kind: export(varied, kind).content for kind in ("json", "csv")}

    for size in ("WHOLE_AT_ONCE", "LINES_AT_ONCE", "BATCH"):
        monkeypatch.setattr(exporting, size, 1)
    monkeypatch.setattr(exports, "OBSERVATIONS_AT_ONCE", 1)

    assert export(varied, "csv").content == at_once["csv"]
    bit_by_bit = json.loads(export(varied).content)
    assert bit_by_bit | {"exported_at": ""} == json.loads(at_once["json"]) | {"exported_at": ""}
    assert parquet.read_table(io.BytesIO(export(varied, "parquet").content)).num_rows == 2


def test_an_empty_study_has_an_export_too(api):
    post(api, "studies", name="s", task="t", space=SPACE)

    assert export(api).json()["trials"] == []
    assert len(export(api, "csv").text.splitlines()) == 1
    assert parquet.read_table(io.BytesIO(export(api, "parquet").content)).num_rows == 0


async def begun(store):
    return await exports.begin(store, "default", "s")


@pytest.mark.row(259)
def test_what_happens_after_an_export_began_is_not_in_it(varied):
    """The watermark decides, not the moment at which a page is read."""
    store = varied.app.state.house.store
    post(varied, "studies/s/trials", trials=[{"config": SECOND | {"größe": 5}}])
    leased = lease(varied)

    export = varied.portal.call(begun, store)
    post(varied, f"leases/{leased}/complete", loss=0.125)
    post(varied, "studies/s/trials", trials=[{"config": SECOND | {"größe": 6}}])
    document = json.loads(varied.portal.call(collected, export))

    assert [trial["state"] for trial in document["trials"]] == ["succeeded", "succeeded", "running"]
    assert (document["trials"][2]["loss"], document["trials"][2]["finished_at"]) == (None, None)
    assert len(document["observations"]) == document["watermark"] == 2


async def collected(export):
    return b"".join([piece async for piece in exporting.as_json(export)])


def test_the_export_of_a_study_that_is_not_there_is_refused(api):
    assert api.get("/api/v1/studies/nope/export").status_code == 404
