"""A server that does nothing: what HTTP alone costs under uvicorn with the settings of `thiessen serve`."""

import socket
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

ANSWER = b"{}"


async def nothing(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """Read the body and answer with an empty object."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body", False):
        pass
    headers = [(b"content-type", b"application/json"), (b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


if __name__ == "__main__":
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    print(f"Serving at http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(nothing, access_log=False, log_level="warning", lifespan="off")
    uvicorn.Server(config).run(sockets=[listener])
