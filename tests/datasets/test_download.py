"""download_esci against a real local server that misbehaves in every way it can."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from toolkit.datasets import RemoteFile, download_esci
from toolkit.datasets.download import ESCI_FILES, DownloadError

CONTENT = np.random.default_rng(0).integers(0, 256, 300_000, dtype=np.uint8).tobytes()
FILE = RemoteFile("data.parquet", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


class Server:
    """Serves CONTENT; ``script`` holds one behaviour per request, the last one repeats."""

    def __init__(self):
        self.script, self.requests = ["ok"], []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                owner.requests.append((self.path, self.headers.get("Range")))
                how = owner.script.pop(0) if len(owner.script) > 1 else owner.script[0]
                owner.answer(self, how)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.release = threading.Event()
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def answer(self, request, how):
        status = int(how) if how.isdigit() else 200
        body = b"" if how.isdigit() else CONTENT
        if how == "pointer":
            body = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 300000\n"
        elif how == "corrupt":
            body = CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])
        elif how == "longer":
            body = CONTENT + b"more"
        start = 0
        if request.headers.get("Range") and how not in ("no range", "truncate, no range") and status == 200:
            start, status = int(request.headers["Range"].removeprefix("bytes=").removesuffix("-")), 206
        request.send_response(status)
        if status == 206:
            shown = start + 5 if how == "wrong range" else start
            request.send_header("Content-Range", f"bytes {shown}-{len(body) - 1}/{len(body)}")
        request.send_header("Content-Length", str(len(body) - start))
        request.end_headers()
        body = body[start:]
        if how.startswith("truncate"):
            request.wfile.write(body[:100_000])
        elif how == "stall":
            request.wfile.write(body[:50_000])
            request.wfile.flush()
            self.release.wait(10)
        else:
            request.wfile.write(body)
        request.wfile.flush()
        request.close_connection = True


@pytest.fixture
def server():
    running = Server()
    yield running
    running.release.set()
    running.http.shutdown()
    running.http.server_close()


def fetch(server, folder, file=FILE, **options):
    options = {"timeout": 0.5, "retries": 2, "backoff": 0.01, "progress": False, **options}
    return download_esci(folder, server.url, files=[file], **options)


def assert_complete(folder):
    assert (folder / FILE.name).read_bytes() == CONTENT
    assert [p.name for p in folder.iterdir()] == [FILE.name]


def test_plain_download_then_nothing_to_do(server, tmp_path):
    table = fetch(server, tmp_path / "new")
    assert table.loc[0].to_dict() == {"name": FILE.name, "bytes": FILE.size, "status": "downloaded", "verified": "size and sha256"}
    assert_complete(tmp_path / "new")
    assert fetch(server, tmp_path / "new").loc[0, "status"] == "present"
    assert len(server.requests) == 1


@pytest.mark.parametrize("script", [
    ["truncate", "truncate", "ok"],
    ["stall", "ok"],
    ["503", "429", "ok"],
    ["truncate", "416", "ok"],
    ["truncate", "wrong range", "ok"],
    ["truncate", "no range"],
    ["truncate", "stall", "503", "truncate", "ok"],
])
def test_recovers(server, tmp_path, script):
    server.script = list(script)
    fetch(server, tmp_path)
    assert_complete(tmp_path)


def test_a_retry_asks_only_for_what_is_missing(server, tmp_path):
    server.script = ["truncate", "ok"]
    fetch(server, tmp_path)
    assert [wanted for _, wanted in server.requests] == [None, "bytes=100000-"]


def test_a_later_call_resumes(server, tmp_path):
    (tmp_path / "data.parquet.part").write_bytes(CONTENT[:120_000])
    assert fetch(server, tmp_path).loc[0, "status"] == "resumed"
    assert server.requests == [("/data.parquet", "bytes=120000-")]
    assert_complete(tmp_path)


def test_giving_up_keeps_the_part_for_the_next_call(server, tmp_path):
    server.script = ["truncate", "503"]
    with pytest.raises(DownloadError, match="100000 of 300000 bytes.*HTTP 503.*resume"):
        fetch(server, tmp_path)
    assert (tmp_path / "data.parquet.part").stat().st_size == 100_000
    assert not (tmp_path / FILE.name).exists()


def test_a_server_that_never_gets_further_is_given_up(server, tmp_path):
    server.script = ["truncate, no range"]
    with pytest.raises(DownloadError, match="gave up"):
        fetch(server, tmp_path)
    assert len(server.requests) == 4


def test_not_found_is_an_error_at_once(server, tmp_path):
    server.script = ["404"]
    with pytest.raises(DownloadError, match="data.parquet: HTTP 404; check base_url"):
        fetch(server, tmp_path)
    assert len(server.requests) == 1
    assert not list(tmp_path.iterdir())


def test_wrong_checksum_is_deleted_and_never_named(server, tmp_path):
    server.script = ["corrupt"]
    with pytest.raises(DownloadError, match=f"expected {FILE.sha256}"):
        fetch(server, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("how", "words"), [("longer", "more than the expected"), ("pointer", "Git LFS pointer")])
def test_other_content_is_refused(server, tmp_path, how, words):
    server.script = [how]
    with pytest.raises(DownloadError, match=words):
        fetch(server, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_already_there_is_fetched_again(server, tmp_path):
    (tmp_path / FILE.name).write_bytes(b"x" * len(CONTENT))
    assert fetch(server, tmp_path).loc[0, "status"] == "downloaded"
    assert_complete(tmp_path)


def test_without_a_checksum_the_result_says_so(server, tmp_path):
    table = fetch(server, tmp_path, RemoteFile(FILE.name, FILE.size))
    assert table.loc[0, "verified"] == "size"


def test_unreachable_server(tmp_path):
    with pytest.raises(DownloadError, match="gave up"):
        download_esci(tmp_path, "http://127.0.0.1:9", files=[FILE], retries=1, backoff=0.01, progress=False)


def test_the_default_manifest_is_well_formed():
    assert [file.name.rsplit("_", 1)[1] for file in ESCI_FILES] == ["examples.parquet", "products.parquet", "sources.csv"]
    assert all(file.sha256 is None or len(file.sha256) == 64 for file in ESCI_FILES)
