"""A chat-completions endpoint over real sockets that can misbehave in every way the statuses name."""

from __future__ import annotations

import json
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Callable

import pytest


class Endpoint:
    """A local server; ``behave`` is called with the request body and the socket for each request."""

    def __init__(self) -> None:
        self.requests: list[dict] = []
        self.headers: list[str] = []
        self.behave: Callable[[dict, socket.socket], None] = answer_with("[1]")
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                data = b""
                while b"\r\n\r\n" not in data:
                    part = self.request.recv(65536)
                    if not part:
                        return
                    data += part
                head, _, body = data.partition(b"\r\n\r\n")
                length = int(next(line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")))
                while len(body) < length:
                    body += self.request.recv(65536)
                outer.headers.append(head.decode())
                outer.requests.append(json.loads(body))
                try:
                    outer.behave(outer.requests[-1], self.request)
                except OSError:
                    pass  # the client hung up, as some tests want

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def http(status: int, body: bytes) -> bytes:
    """A complete HTTP response that closes the connection."""
    return f"HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


def completion(content: object) -> bytes:
    """The body of a chat completion."""
    return json.dumps({"model": "snapshot-1", "choices": [{"message": {"content": content}}],
                       "usage": {"prompt_tokens": 11, "completion_tokens": 3}}).encode()


def answer_with(content: object) -> Callable[[dict, socket.socket], None]:
    """A well-behaved endpoint that always says ``content``."""
    return lambda request, connection: connection.sendall(http(200, completion(content)))


def raw(status: int, body: bytes) -> Callable[[dict, socket.socket], None]:
    """An endpoint that answers with this status and these bytes."""
    return lambda request, connection: connection.sendall(http(status, body))


def slow(content: object, seconds: float) -> Callable[[dict, socket.socket], None]:
    """An endpoint whose right answer comes late."""
    def behave(request: dict, connection: socket.socket) -> None:
        time.sleep(seconds)
        connection.sendall(http(200, completion(content)))
    return behave


def drip(content: object, seconds: float) -> Callable[[dict, socket.socket], None]:
    """An endpoint that sends a byte now and then: no single read is slow."""
    def behave(request: dict, connection: socket.socket) -> None:
        for byte in http(200, completion(content)):
            connection.sendall(bytes([byte]))
            time.sleep(seconds)
    return behave


def drip_head(request: dict, connection: socket.socket) -> None:
    """An endpoint whose header never ends: a byte now and then, for as long as anyone listens."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    for _ in range(100):
        connection.sendall(b"a")
        time.sleep(0.05)


def wait_first(seconds: str, calls: list[float]) -> Callable[[dict, socket.socket], None]:
    """An endpoint that asks the first caller to come back after ``seconds`` and answers the next; ``calls`` keeps when."""
    def behave(request: dict, connection: socket.socket) -> None:
        calls.append(time.monotonic())
        busy = http(429, b"busy").replace(b"\r\n\r\n", f"\r\nRetry-After: {seconds}\r\n\r\n".encode())
        connection.sendall(busy if len(calls) == 1 else http(200, completion("[2, 1]")))
    return behave


def redirect(request: dict, connection: socket.socket) -> None:
    """An endpoint that lives elsewhere."""
    connection.sendall(b"HTTP/1.1 307 Elsewhere\r\nLocation: https://elsewhere/v1\r\nContent-Length: 0\r\n\r\n")


def endless(status: int) -> Callable[[dict, socket.socket], None]:
    """An endpoint whose body does not end."""
    def behave(request: dict, connection: socket.socket) -> None:
        connection.sendall(f"HTTP/1.1 {status} Status\r\n\r\n".encode())
        while True:
            connection.sendall(b" " * 2**20)
    return behave


def chunked(content: object) -> Callable[[dict, socket.socket], None]:
    """A right answer in chunks of one byte."""
    def behave(request: dict, connection: socket.socket) -> None:
        parts = b"".join(b"1\r\n%c\r\n" % byte for byte in completion(content))
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + parts + b"0\r\n\r\n")
    return behave


def reset(request: dict, connection: socket.socket) -> None:
    """An endpoint that resets the connection in the middle of its answer."""
    connection.sendall(http(200, completion("[2, 1]"))[:-20])
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


BEHAVIOURS = {"answer_with": answer_with, "raw": raw, "slow": slow, "drip": drip, "reset": reset, "drip_head": drip_head,
              "wait_first": wait_first, "redirect": redirect, "endless": endless, "chunked": chunked}


@pytest.fixture
def endpoint():
    server = Endpoint()
    yield server
    server.close()


@pytest.fixture
def behaviours():
    """The ways an endpoint can behave, by name."""
    return BEHAVIOURS


@pytest.fixture
def closed_port() -> str:
    """Address of a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
