import runpy
from importlib.metadata import PackageNotFoundError
from unittest import mock

import optimizers
import thiessen
from optimizers import version


def test_the_version_is_that_of_the_distribution():
    assert optimizers.__version__ == thiessen.__version__


def test_a_copy_of_the_folder_alone_does_not_know_its_version():
    with mock.patch("importlib.metadata.version", side_effect=PackageNotFoundError):
        assert runpy.run_path(version.__file__)["__version__"] == "unknown"
