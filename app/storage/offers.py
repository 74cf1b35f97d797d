"""What tasks accept: schemas and spaces, each kept once however many workers offer it.

They are apart from the workers, whose rows every lease reads. None is removed: there is one for each version
of a task that ever was.
"""

from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any

from sqlalchemy import select

from app.storage.store import Transaction
from app.storage.tables import offers


def keep(tx: Transaction, documents: Mapping[str, Any]) -> None:
    """Store the documents by their digests, those that are not there yet."""
    new = documents.keys() - read(tx, documents).keys()
    if not new:
        return
    dialect: Any = import_module(f"sqlalchemy.dialects.{tx.dialect.name}")  # not the other one too
    rows = [{"digest": digest, "document": documents[digest]} for digest in sorted(new)]
    tx.execute(dialect.insert(offers).values(rows).on_conflict_do_nothing())


def read(tx: Transaction, digests: Collection[str]) -> dict[str, Any]:
    """Return the documents of these digests, as far as they are there."""
    if not digests:
        return {}
    found = tx.execute(select(offers.c.digest, offers.c.document).where(offers.c.digest.in_(digests)))
    return {row.digest: row.document for row in found}
