import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from app.storage import DatabaseUnavailable, open_store
from app.storage.schema import prepare, revisions, upgrade
from app.storage.tables import metadata


def test_the_migrations_create_exactly_the_tables_of_the_code(store):
    def differences(tx):
        return compare_metadata(MigrationContext.configure(tx, opts={"compare_type": True}), metadata)

    assert store.read(differences) == []


def test_preparing_twice_changes_nothing(store):
    prepare(store)

    revision = store.read(lambda tx: tx.execute(text("SELECT version_num FROM alembic_version")).scalar_one())
    assert revision == revisions()[-1]


@pytest.mark.parametrize("attempt", [prepare, upgrade])
def test_a_schema_of_a_newer_version_or_another_program_is_refused_with_the_remedy(store, attempt):
    store.write(lambda tx: tx.execute(text("UPDATE alembic_version SET version_num = '9999'")).rowcount)

    with pytest.raises(DatabaseUnavailable, match=r"upgrade this server.*another program"):
        attempt(store)


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
