import json

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text

from app.storage import DatabaseUnavailable, open_store
from app.storage.schema import _migrations, must_fit, prepare, revisions, upgrade
from app.storage.tables import metadata


@pytest.fixture
def migrated(database, postgres, tmp_path):
    """An empty database of the same kind, brought up to date by the migrations alone."""
    address = f"sqlite:///{tmp_path}/migrated.db"
    if database.startswith("postgresql"):
        address = postgres.new_database()
    opened = open_store(address)
    upgrade(opened)
    yield opened
    opened.close()
    if database.startswith("postgresql"):
        postgres.drop(address)


def shape(tx):
    """Everything about the schema that the database itself can tell, and every row."""
    inspector = inspect(tx)
    told = {}
    for table in inspector.get_table_names():
        columns = inspector.get_columns(table)
        told[table] = {
            "columns": sorted((c["name"], str(c["type"]), c["nullable"], c["default"]) for c in columns),
            "primary key": inspector.get_pk_constraint(table),
            "foreign keys": written(inspector.get_foreign_keys(table)),
            "uniques": written(inspector.get_unique_constraints(table)),
            "checks": written(inspector.get_check_constraints(table)),
            "indexes": written(inspector.get_indexes(table)),
            "rows": tx.execute(text(f"SELECT * FROM {table}")).all(),  # noqa: S608
        }
    return told


def written(found):
    return sorted(json.dumps(one, default=str, sort_keys=True) for one in found)


def test_an_empty_database_becomes_exactly_what_the_migrations_make(store, migrated):
    assert store.read(shape) == migrated.read(shape)


def test_nothing_is_in_the_migrations_that_the_code_does_not_know(migrated):
    def differences(tx):
        return compare_metadata(MigrationContext.configure(tx, opts={"compare_type": True}), metadata)

    assert migrated.read(differences) == []


def test_every_migration_is_found_without_running_it():
    config = Config()
    config.set_main_option("script_location", str(_migrations()))

    assert revisions() == [
        step.revision for step in reversed(list(ScriptDirectory.from_config(config).walk_revisions()))
    ]


def test_preparing_twice_changes_nothing(store):
    prepare(store)

    revision = store.read(lambda tx: tx.execute(text("SELECT version_num FROM alembic_version")).scalar_one())
    assert revision == revisions()[-1]


def said_to_be(store, revision, oldest):
    """Let the database be at an unknown schema, for servers that know `oldest` or a later one."""

    def step(tx):
        tx.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})
        tx.execute(text("UPDATE schema_range SET oldest = :it"), {"it": oldest})

    store.write(step)


@pytest.mark.parametrize("attempt", [prepare, upgrade])
def test_a_schema_of_a_newer_version_or_another_program_is_refused_with_the_remedy(store, attempt):
    said_to_be(store, "9999", "9998")

    with pytest.raises(DatabaseUnavailable, match=r"upgrade this server.*another program"):
        attempt(store)


def test_a_newer_schema_that_lets_servers_of_this_one_go_on_is_taken_and_never_migrated(store):
    said_to_be(store, "9999", revisions()[-1])

    prepare(store)

    assert store.read(must_fit) == "9999"
    with pytest.raises(DatabaseUnavailable, match="upgrade this server"):
        upgrade(store)


def test_a_newer_schema_that_does_not_say_who_may_go_on_is_refused(store):
    said_to_be(store, "9999", revisions()[-1])
    store.write(lambda tx: tx.execute(text("DROP TABLE schema_range")).rowcount)

    with pytest.raises(DatabaseUnavailable, match="upgrade this server"):
        prepare(store)


def test_a_file_that_is_no_database_is_refused_with_a_sentence(tmp_path):
    (tmp_path / "notes.db").write_text("shopping list: " + "eggs " * 200)

    with pytest.raises(DatabaseUnavailable, match="file is not a database"):
        open_store(f"sqlite:///{tmp_path}/notes.db")


def test_a_role_that_may_not_create_tables_is_refused_with_a_sentence(postgres):
    address = postgres.new_database()
    owner = open_store(address)
    owner.write(lambda tx: tx.execute(text("CREATE ROLE reader LOGIN")).rowcount)
    store = open_store(address.replace("://postgres:@", "://reader@"))

    with pytest.raises(DatabaseUnavailable, match="permission denied"):
        prepare(store)

    store.close()
    owner.write(lambda tx: tx.execute(text("DROP ROLE reader")).rowcount)
    owner.close()
    postgres.drop(address)


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
