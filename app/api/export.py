"""The whole of a study over HTTP: a stream that never holds more than a page of it."""

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from app import wire
from app.api.paths import Project, StudyName
from app.api.studies import WRONG
from app.domain.access import Principal, Scope
from app.domain.errors import InvalidRequest
from app.domain.trial import Observation
from app.gate import needs
from app.house import TheHouse
from app.lifecycle import export as exports
from app.lifecycle.export import Export
from app.storage.whole import Row
from thiessen.search.record import FORMAT
from thiessen.space import Scalar
from thiessen.spreadsheet import cell

router = APIRouter(tags=["studies"])

Reader = Annotated[Principal, needs(Scope.READ)]
Entries = Callable[[Export, Sequence[Row]], Awaitable[list[dict[str, Any]]]]

WHOLE_AT_ONCE: Final = 100  # trials with their attempts and curves
LINES_AT_ONCE: Final = 1000
BATCH: Final = 10_000  # lines of a Parquet file that are compressed together
COLUMNS: Final = (
    "number", "state", "cause", "origin", "loss", "value", "attempts", "seed", "created_at", "finished_at",
    "notes", "attributes",
)  # fmt: skip


class Format(StrEnum):
    """How an export is written."""

    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"

    @property
    def media_type(self) -> str:
        return {"json": "application/json", "csv": "text/csv; charset=utf-8"}.get(
            self, "application/vnd.apache.parquet"
        )


@router.get(
    "/studies/{name}/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The export.",
            "content": {each.media_type.partition(";")[0]: {} for each in Format},
        },
        **WRONG,
    },
)
async def export_study(
    name: StudyName,
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    written_as: Annotated[
        Format,
        Query(alias="format", description="json has everything; csv and parquet a line for each trial."),
    ] = Format.JSON,
) -> Response:
    """Return all trials of a study as they stood when the export began."""
    del who
    if written_as is Format.PARQUET and find_spec("pyarrow") is None:
        raise InvalidRequest(
            "format: this server cannot write Parquet. Install it there with: "
            "pip install 'thiessen[server,parquet]'; or ask for csv or json."
        )
    export = await exports.begin(house.store, project, name)
    write = {Format.JSON: as_json, Format.CSV: as_csv, Format.PARQUET: as_parquet}[written_as]
    return StreamingResponse(
        write(export),
        media_type=written_as.media_type,
        headers={"Content-Disposition": f'attachment; filename="{name}.{written_as}"'},
    )


def as_json(export: Export) -> AsyncIterator[bytes]:
    """Return the document of everything; `thiessen replay` reads it."""
    return _document(export, _whole_entries)


def as_record(export: Export) -> AsyncIterator[bytes]:
    """Return the document without what no proposal depends on."""
    return _document(export, _bare_entries)


async def _document(export: Export, entries: Entries) -> AsyncIterator[bytes]:
    study = wire.study(export.progress).model_dump(mode="json")
    head = {
        "format": FORMAT,
        "exported_at": datetime.now(UTC).isoformat(),
        "watermark": export.watermark,
        "study": {**study, "space": export.study.spec.space.declaration},
    }
    yield json.dumps(head)[:-1].encode() + b', "trials": ['
    begin = b"\n"
    async for page in export.pages(WHOLE_AT_ONCE):
        yield begin + await asyncio.to_thread(_joined, await entries(export, page))
        begin = b",\n"
    yield b'\n], "observations": ['
    begin = b"\n"
    async for some in export.observations():
        yield begin + _joined([_observation(each) for each in some])
        begin = b",\n"
    yield b"\n]}\n"


async def _whole_entries(export: Export, page: Sequence[Row]) -> list[dict[str, Any]]:
    attempts = await export.attempts(page)
    return [
        {
            **entry,
            **_line(export, row),
            "attempts": [
                wire.attempt_of(each).model_dump(mode="json") for each in attempts.get(row.number, ())
            ],
        }
        for entry, row in zip(await _bare_entries(export, page), page, strict=True)
    ]


async def _bare_entries(export: Export, page: Sequence[Row]) -> list[dict[str, Any]]:
    del export
    names = ("number", "origin", "config", "turn", "watermark", "reasons")
    began = ({} if row.start is None else {"config": row.start} for row in page)
    return [
        {name: getattr(row, name) for name in names} | start for row, start in zip(page, began, strict=True)
    ]


def _observation(observed: Observation) -> dict[str, Any]:
    """Return an observation as a record has it."""
    told = {name: value for name, value in vars(observed).items() if name != "asked"}
    return told if observed.asked is None else told | {"asked": observed.asked.to_json()}


def _joined(entries: list[dict[str, Any]]) -> bytes:
    return ",\n".join(json.dumps(entry, default=_plain) for entry in entries).encode()


def _plain(value: datetime) -> str:
    return value.isoformat()


def _line(export: Export, row: Row) -> dict[str, Any]:
    """Return a trial as what its columns hold, its config aside."""
    end = export.ends.of(row)
    return {
        "number": row.number,
        "state": end.state.value,
        "cause": end.cause,
        "origin": row.origin.value,
        "loss": end.loss,
        "value": None if end.loss is None else export.study.spec.direction.loss(end.loss),
        "attempts": row.attempts,
        "seed": row.seed,
        "created_at": row.created_at,
        "finished_at": row.finished_at if end.state.is_terminal else None,
        "notes": row.notes,
        "attributes": row.attributes,
    }


async def as_csv(export: Export) -> AsyncIterator[bytes]:
    """Yield a line for each trial, with a column for each dimension."""
    dimensions = list(export.progress.space.dimensions)
    yield _lines([[*COLUMNS, *(f"config.{name}" for name in dimensions)]])
    async for page in export.pages(LINES_AT_ONCE):
        yield await asyncio.to_thread(_lines, _cells(export, dimensions, page))


def _cells(export: Export, dimensions: list[str], page: Sequence[Row]) -> Iterator[list[Any]]:
    for row in page:
        yield [*_line(export, row).values(), *(row.config.get(name) for name in dimensions)]


def _lines(rows: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue().encode()


def _cell(value: Scalar | datetime | dict[str, Any]) -> str:
    match value:
        case None:
            return ""
        case str():
            return cell(value)
        case datetime():
            return value.isoformat()
        case bool() | dict():
            return json.dumps(value)
    return repr(value)


async def as_parquet(export: Export) -> AsyncIterator[bytes]:
    """Yield a Parquet file with the same columns, each of the type of its dimension."""
    from app.api.parquet import ParquetFile

    file = await asyncio.to_thread(ParquetFile, export.progress.space)
    async for page in export.pages(BATCH):
        lines = ((_line(export, row), row.config) for row in page)
        yield await asyncio.to_thread(partial(file.append, list(lines)))
    yield await asyncio.to_thread(file.end)
