"""Start and stop real Elasticsearch nodes; used by the tests and the benchmarks.

``with running_url() as url:`` is the rule of who answers: ``ELASTICSEARCH_URL`` where it is set, else a
node built here. ``start_node`` and ``start_cluster`` give processes that can be killed, stopped and
started again on the same data.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.elasticsearch_node.build import NodeUnavailable, build, find_java

TRANSPORT_OFFSET = 100  # the transport port is the HTTP port plus this
START_SECONDS = 180  # about five on an idle machine
MODULES = "jdk.incubator.vector,org.elasticsearch.server,jdk.net,jdk.management.agent"
JVM_OPTIONS = (
    f"--add-modules={MODULES}",
    "--enable-native-access=ALL-UNNAMED,org.elasticsearch.nativeaccess,org.apache.lucene.core",
    "--add-opens=org.apache.lucene.core/org.apache.lucene.store=ALL-UNNAMED",
    "-Des.distribution.type=zip",
)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A loopback port P such that P and P + 100 are both free."""
    for _ in range(200):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port + TRANSPORT_OFFSET < 65_536 and _is_free(port) and _is_free(port + TRANSPORT_OFFSET):
            return port
    raise NodeUnavailable("no free pair of loopback ports")


@dataclass
class LocalNode:
    """One Elasticsearch process on this machine.

    Parameters
    ----------
    data : Path
        Where its indices and its log lie; kept between :meth:`stop` and :meth:`start`.
    port : int
        HTTP port; the transport port is ``port + 100``.
    settings : dict of str to str
        Further node settings.
    heap : str
        Java heap, as in ``-Xmx``.
    """

    data: Path
    port: int
    settings: dict[str, str] = field(default_factory=dict)
    heap: str = "1g"
    process: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        """Address of the HTTP interface."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        """File with everything the process printed."""
        return self.data / "node.log"

    def _command(self) -> list[str]:
        java = find_java()
        folder = build(java)
        settings = {
            "path.home": folder / "home", "path.data": self.data / "data", "path.logs": self.data / "logs",
            "http.port": self.port, "transport.port": self.port + TRANSPORT_OFFSET, "network.host": "127.0.0.1",
            "http.type": "netty4", "transport.type": "netty4", "discovery.type": "single-node",
            "cluster.routing.allocation.disk.threshold_enabled": "false", **self.settings,
        }
        if "cluster.initial_master_nodes" in settings:
            del settings["discovery.type"]
        return [str(java / "bin" / "java"), f"-Xms{self.heap}", f"-Xmx{self.heap}", "-p", str(folder / "lib"), *JVM_OPTIONS,
                f"-Des.path.home={folder / 'home'}", "-cp", str(folder / "launcher"), "searchnode.launcher.Launcher",
                *(f"{name}={value}" for name, value in settings.items())]

    def launch(self) -> None:
        """Start the process without waiting for it; it ends with the process that starts it."""
        self.data.mkdir(parents=True, exist_ok=True)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self._command(), stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.PIPE)

    def wait(self, nodes: int = 1) -> LocalNode:
        """Wait until the cluster has this many nodes and answers."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self.process is None or self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.url}/_cluster/health", timeout=5) as answer:
                    if json.load(answer)["number_of_nodes"] >= nodes:
                        return self
            except (OSError, urllib.error.URLError, ValueError):
                pass
            time.sleep(0.2)
        tail = self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""
        self.kill()
        raise NodeUnavailable(f"the Elasticsearch node did not start within {START_SECONDS} s; end of its log:\n{tail}")

    def start(self) -> LocalNode:
        """Start the process and wait until it answers."""
        self.launch()
        return self.wait()

    def cpu_seconds(self) -> float:
        """CPU time the process has used since it started, user and system [s] (Linux)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        """Resident memory of the process [bytes] (Linux)."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self) -> None:
        """Ask the process to close, and kill it when it does not."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        self.process = None

    def kill(self) -> None:
        """End the process at once, as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(20)
        self.process = None


@contextmanager
def start_node(settings: dict[str, str] | None = None, heap: str = "1g") -> Iterator[LocalNode]:
    """A running single node with empty data, stopped and removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="elasticsearch-node-"))
    node = LocalNode(folder, free_port(), settings or {}, heap)
    try:
        yield node.start()
    finally:
        node.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def start_cluster(size: int = 2, heap: str = "512m") -> Iterator[list[LocalNode]]:
    """Several nodes on this machine that form one cluster; the first one is its only master."""
    folder = Path(tempfile.mkdtemp(prefix="elasticsearch-cluster-"))
    nodes: list[LocalNode] = []
    for number in range(size):
        settings = {"node.name": f"node-{number}", "cluster.initial_master_nodes": "node-0",
                    "node.roles": "master,data" if number == 0 else "data"}
        if nodes:
            settings["discovery.seed_hosts"] = f"127.0.0.1:{nodes[0].port + TRANSPORT_OFFSET}"
        nodes.append(LocalNode(folder / f"node-{number}", free_port(), settings, heap))
    try:
        for node in nodes:
            node.launch()
        yield [node.wait(size) for node in nodes]
    finally:
        for node in nodes:
            node.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_url() -> Iterator[str]:
    """Address of an Elasticsearch: ``ELASTICSEARCH_URL``, else a node built and started here.

    Raises
    ------
    NodeUnavailable
        Saying what to install, or that the given address does not answer.
    """
    given = os.environ.get("ELASTICSEARCH_URL")
    if not given:
        with start_node() as node:
            yield node.url
        return
    try:
        urllib.request.urlopen(given, timeout=10).close()
    except urllib.error.HTTPError:
        pass  # it answers, for example with 401 where it wants credentials
    except OSError as failure:
        raise NodeUnavailable(f"ELASTICSEARCH_URL is set but does not answer: {failure}") from None
    yield given
