"""A receiver of webhooks: a real HTTP server in a thread."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """Remembers what it was sent; answers the statuses it is given, then 204."""

    def __init__(self, url) -> None:
        self.url = url
        self.requests = []
        self.answers = []
        self.meanwhile = lambda: None

    @property
    def seqs(self):
        return [event["seq"] for _, body in self.requests for event in json.loads(body)["events"]]


@contextmanager
def receiving():
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.requests.append((dict(self.headers), body))
            receiver.meanwhile()
            self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
            self.send_header("Location", f"{receiver.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *said):
            del said

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}/hook")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield receiver
    server.shutdown()
    thread.join()
    server.server_close()
