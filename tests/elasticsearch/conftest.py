"""A scripted HTTP server that fails as servers and proxies do, and small indices on a real one."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest

from toolkit.search import ElasticsearchEngine
from toolkit.search.elasticsearch_requests import Retry

STATE = {
    "/": {"version": {"number": "9.2.0"}, "tagline": "You Know, for Search"},
    "/shop": {"shop": {"mappings": {"properties": {"product_id": {"type": "keyword"}, "title": {"type": "text"}}},
                       "settings": {"index": {"uuid": "u", "number_of_shards": "1"}}}},
    "/shop/_stats/docs": {"_all": {"primaries": {"docs": {"count": 3, "deleted": 0}}}, "indices": {"shop": {"shards": {}}}},
}


def one_hit(product_id: str = "p1", score: float = 1.5) -> dict:
    """A whole answer of one search."""
    return {"took": 1, "timed_out": False, "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0}, "status": 200,
            "hits": {"total": {"value": 1, "relation": "eq"}, "hits": [{"_id": product_id, "_score": score, "sort": [score, product_id]}]}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Keep the test output quiet."""

    def reply(self, status: int, body: bytes | dict, headers: dict | None = None) -> None:
        """Send one complete answer with the product header that clients check."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"X-Elastic-Product": "Elasticsearch", "Content-Type": "application/vnd.elasticsearch+json;compatible-with=9",
                            "Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def reset(self) -> None:
        """Break the connection in the middle of an answer."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Elastic-Product: Elasticsearch\r\nContent-Type: application/json\r\n"
                         b"Content-Length: 1000\r\n\r\n{\"took\":")
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def _answer(self) -> None:
        received = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        self.server.paths.append((self.command, path))
        self.server.headers.append(dict(self.headers))
        if path in STATE and self.command == "GET":
            self.reply(200, STATE[path])
            return
        lines = [json.loads(line) for line in received.decode().splitlines() if line.strip()]
        step = self.server.steps.pop(0) if len(self.server.steps) > 1 else self.server.steps[0]
        try:
            step(self, lines)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client had given up

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _answer


class ScriptedServer(ThreadingHTTPServer):
    """Answers its known state requests, and everything else by its steps in turn; the last step repeats."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.steps: list[Callable[[_Handler, list], None]] = [answer_all]
        self.paths: list[tuple[str, str]] = []
        self.headers: list[dict] = []

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"

    def searches(self) -> int:
        """Number of ``_msearch`` requests it received."""
        return sum(path.endswith("_msearch") for _, path in self.paths)

    def handle_error(self, *_: object) -> None:
        """A connection that the test broke on purpose is no news."""


def answer_all(handler: _Handler, lines: list) -> None:
    """A hit for every search."""
    handler.reply(200, {"responses": [one_hit() for _ in lines[::2]]})


def status(code: int, headers: dict | None = None) -> Callable:
    """The whole request fails with an HTTP status."""
    return lambda handler, lines: handler.reply(code, {"error": {"type": "busy", "reason": "come back later"}, "status": code}, headers)


def items(*answers: dict) -> Callable:
    """These answers, whatever was asked."""
    return lambda handler, lines: handler.reply(200, {"responses": list(answers)})


def text(content: bytes) -> Callable:
    """Bytes that are no Elasticsearch answer."""
    return lambda handler, lines: handler.reply(200, content)


def stall(seconds: float) -> Callable:
    """An answer that comes too late."""
    def step(handler: _Handler, lines: list) -> None:
        time.sleep(seconds)
        answer_all(handler, lines)
    return step


def reset(handler: _Handler, lines: list) -> None:
    """The connection breaks in the middle of the answer."""
    handler.reset()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A scripted server on a free port."""
    scripted = ScriptedServer()
    thread = threading.Thread(target=scripted.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield scripted
    scripted.shutdown()
    thread.join()
    scripted.server_close()


@pytest.fixture
def engine(server: ScriptedServer) -> ElasticsearchEngine:
    """An engine of the scripted server: three attempts, waits of milliseconds."""
    return ElasticsearchEngine(server.url, "shop", timeout=20, retry=Retry(3, 0.001, 0.01), batch_size=2)


@pytest.fixture(scope="session")
def products() -> pd.DataFrame:
    """A few products with nulls, lists, equal texts (real ties) and awkward characters."""
    return pd.DataFrame({
        "product_id": ["B2", "B1", "B10", "ä1", "007", "B3"],
        "title": ["red shoe for men", "red shoe for men", "Crème brûlée dish", "lawnmower tires", '60" round table', "men’s shoes"],
        "brand": ["Acme", None, "Rémy", "Acme", "", "Nike"],
        "bullet_point": [["soft sole", "rubber"], None, [], ["fits all mowers"], ["oak"], ["red"]],
    })


@pytest.fixture
def index_name() -> str:
    """A name that no other test uses."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def script() -> type:
    """The steps of the scripted server, as one namespace for the tests."""
    return type("Script", (), {name: staticmethod(step) for name, step in
                               {"ok": answer_all, "status": status, "items": items, "text": text, "stall": stall, "reset": reset,
                                "hit": one_hit}.items()})
