"""One address for several servers: each connection goes to the next that takes it, as with a balancer."""

import itertools
import select
import socket
import threading
from contextlib import suppress

PIECE = 65536  # bytes


class Front:
    """Listens on a free port of this machine; `ports` are those of the servers behind it, and may change."""

    def __init__(self, ports):
        self.ports = [*ports]
        self._turn = itertools.count()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)  # closing alone would not wake who accepts
        self._listener.close()

    def _serve(self):
        with suppress(OSError):  # the listener was closed
            while True:
                caller, _ = self._listener.accept()
                threading.Thread(target=self._pass_on, args=(caller,), daemon=True).start()

    def _pass_on(self, caller):
        with caller, suppress(OSError):
            server = self._next()
            if server is not None:
                with server:
                    _exchange(caller, server)

    def _next(self):
        """Return a connection to the first server that takes one, beginning with whose turn it is."""
        ports, first = [*self.ports], next(self._turn)
        for n in range(len(ports)):
            with suppress(OSError):
                return socket.create_connection(("127.0.0.1", ports[(first + n) % len(ports)]), timeout=10)
        return None


def _exchange(caller, server):
    """Pass on what either says until one of them hangs up."""
    server.settimeout(None)
    other = {caller: server, server: caller}
    while True:
        for side in select.select([*other], [], [])[0]:
            piece = side.recv(PIECE)
            if not piece:
                return
            other[side].sendall(piece)
