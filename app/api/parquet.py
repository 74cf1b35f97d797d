"""Trials as a Parquet file, written piece by piece. Needs pyarrow, the extra `parquet`."""

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from thiessen.space import Config, Dimension, Space

INSTANT = pa.timestamp("ms", tz="UTC")
FIXED = {
    "number": pa.int64(),
    "state": pa.string(),
    "cause": pa.string(),
    "origin": pa.string(),
    "loss": pa.float64(),
    "value": pa.float64(),
    "attempts": pa.int64(),
    "seed": pa.int64(),
    "created_at": INSTANT,
    "finished_at": INSTANT,
    "notes": pa.string(),
    "attributes": pa.string(),  # JSON
}


class ParquetFile:
    """Returns with each call what is to be sent next."""

    def __init__(self, space: Space) -> None:
        self._kinds = {name: _kind(dimension) for name, dimension in space.dimensions.items()}
        columns = FIXED | {f"config.{name}": kind or pa.string() for name, kind in self._kinds.items()}
        self._schema = pa.schema(list(columns.items()))
        self._sink = _Sink()
        self._writer = parquet.ParquetWriter(self._sink, self._schema)

    def append(self, lines: Sequence[tuple[dict[str, Any], Config]]) -> bytes:
        """Write so many trials as one row group."""
        rows = [self._row(line, config) for line, config in lines]
        self._writer.write_table(pa.Table.from_pylist(rows, self._schema))
        return self._sink.drained()

    def end(self) -> bytes:
        """Write the footer, which says where everything is."""
        self._writer.close()
        return self._sink.drained()

    def _row(self, line: dict[str, Any], config: Config) -> dict[str, Any]:
        row = line | {"attributes": json.dumps(line["attributes"])}
        for name, kind in self._kinds.items():
            value = config.get(name)
            row[f"config.{name}"] = value if kind is not None or name not in config else json.dumps(value)
        return row


class _Sink:
    """A file of which nothing is kept but its length."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        self._length += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._length

    def flush(self) -> None:
        """Do nothing: what was written waits to be drained."""

    def close(self) -> None:
        self.closed = True

    def drained(self) -> bytes:
        drained = b"".join(self._pieces)
        self._pieces.clear()
        return drained


def _kind(dimension: Dimension) -> Any:
    """Return the type of a column that holds every value as it is; None when JSON has to."""
    values = dimension.values()
    if values is None:
        return pa.float64()
    kinds = {type(value) for value in values} if not isinstance(values, range) else {int}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    if kinds <= {int, float}:
        return pa.float64()
    return pa.string() if kinds == {str} else None
