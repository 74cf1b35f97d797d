#!/usr/bin/env python3
"""Optuna's gRPC storage proxy on a free port."""

import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
import optuna

from benchmarks.service.optuna_storage import opened


def main() -> None:
    """Serve the storage of a kind at an address."""
    kind, address = sys.argv[1:]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    print(f"Serving at http://127.0.0.1:{port}", flush=True)
    optuna.storages.run_grpc_proxy_server(opened(kind, address), host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()
