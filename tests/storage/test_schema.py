import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from app.storage import DatabaseUnavailable, open_store
from app.storage.schema import prepare, revisions, upgrade
from app.storage.tables import metadata


def test_the_migrations_create_exactly_the_tables_of_the_code(store):
    with store.engine.connect() as connection:
        differences = compare_metadata(
            MigrationContext.configure(connection, opts={"compare_type": True}), metadata
        )

    assert differences == []


def test_preparing_twice_changes_nothing(store):
    prepare(store)

    revision = store.read(lambda tx: tx.execute(text("SELECT version_num FROM alembic_version")).scalar_one())
    assert revision == revisions()[-1]


def test_a_newer_schema_is_refused_with_the_remedy(store):
    store.write(lambda tx: tx.execute(text("UPDATE alembic_version SET version_num = '9999'")).rowcount)

    with pytest.raises(DatabaseUnavailable, match="upgrade this server"):
        prepare(store)


def test_a_database_of_somebody_else_is_left_alone(database):
    engine = create_engine(database.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE recipes (id INTEGER)"))
    engine.dispose()
    store = open_store(database)
    for attempt in (prepare, upgrade):
        with pytest.raises(DatabaseUnavailable, match="recipes"):
            attempt(store)
    store.close()
