"""A plugin of pytest: the files in a random order, and the tests of each.

Those on one database stay together, as some files have one server for all of them.
"""

import random


def pytest_addoption(parser):
    parser.addoption("--shuffled", type=int, metavar="SEED", help="Run the tests in the order of this seed.")


def pytest_collection_modifyitems(config, items):
    chance = random.Random(config.getoption("shuffled"))
    files = {}
    for item in items:
        tests = files.setdefault(item.path, {})
        tests.setdefault(_database(item), []).append(item)
    items.clear()
    for tests in _shuffled(chance, files.values()):
        for together in _shuffled(chance, tests.values()):
            items += _shuffled(chance, together)


def _database(item):
    return item.callspec.params.get("database") if hasattr(item, "callspec") else None


def _shuffled(chance, those):
    those = list(those)
    chance.shuffle(those)
    return those
