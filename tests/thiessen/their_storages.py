"""What Optuna's suite for storages runs for its own proxy: collected, to compare ours with."""

import socket

import pytest
from optuna.storages import GrpcStorageProxy, InMemoryStorage
from optuna.storages._grpc.server import make_server
from optuna.testing.pytest_storages import StorageTestCase


class TestTheirGrpcProxy(StorageTestCase):
    """Every case; one, on the order of params, is beyond it, so it is not run with ours."""

    @pytest.fixture
    def storage(self):
        with socket.create_server(("localhost", 0)) as free:
            port = free.getsockname()[1]
        served = make_server(InMemoryStorage(), "localhost", port)
        served.start()
        proxy = GrpcStorageProxy(host="localhost", port=port)
        proxy.wait_server_ready(timeout=60)
        yield proxy
        proxy.close()
        served.stop(None).wait()
