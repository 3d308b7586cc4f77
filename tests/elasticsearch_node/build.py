"""Assemble a small Elasticsearch node from the public server artifacts: Maven and a JDK, no download page.

The result lies in ``build/elasticsearch_node/<version>-<hash of the sources>`` and is reused; a lock
makes it safe for two processes to ask at once. Nothing is written into the source tree.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build" / "elasticsearch_node"
VERSION = "9.2.0"
MINIMUM_JAVA = 21

# Folder of usual JVM installations -> where the JDK is inside an entry.
JVM_FOLDERS = {
    "/usr/lib/jvm": "", "/usr/java": "", "/opt/java": "",
    "/Library/Java/JavaVirtualMachines": "Contents/Home", "~/.sdkman/candidates/java": "", "~/.jdks": "",
}
DESCRIPTOR = """description={name}
version={version}
name={name}
classname={classname}
java.version=21
elasticsearch.version={version}
"""


class NodeUnavailable(RuntimeError):
    """The machine cannot build or start a node; the message says what to install."""


def java_version(home: Path) -> int | None:
    """Feature release of the JDK in a folder; None where there is no JDK (with ``javac``)."""
    release = home / "release"
    if not (home / "bin" / "javac").exists() or not release.is_file():
        return None
    found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release.read_text(), re.MULTILINE)
    return int(found.group(1)) if found else None


def _java_candidates() -> Iterator[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    if shutil.which("javac"):
        yield Path(shutil.which("javac")).resolve().parents[1]
    for folder, inside in JVM_FOLDERS.items():
        for entry in sorted(Path(folder).expanduser().glob("*")):
            yield entry / inside


def find_java() -> Path:
    """The first JDK of at least version 21, or NodeUnavailable."""
    for home in _java_candidates():
        if (java_version(home) or 0) >= MINIMUM_JAVA:
            return home
    raise NodeUnavailable(f"no JDK >= {MINIMUM_JAVA} in JAVA_HOME or the usual JVM folders; install one or set ELASTICSEARCH_URL")


def _run(command: list[str | Path], java: Path) -> None:
    done = subprocess.run(command, env={**os.environ, "JAVA_HOME": str(java)}, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise NodeUnavailable(f"{Path(command[0]).name} failed:\n{(done.stdout + done.stderr)[-3000:]}")


def _compile(java: Path, lib: Path, package: str, into: Path) -> None:
    sources = sorted((HERE / "src" / "main" / "java" / "searchnode" / package).glob("*.java"))
    _run([java / "bin" / "javac", "--release", str(MINIMUM_JAVA), "-cp", f"{lib}/*", "-d", into, *sources], java)


def _describe(module: Path, classname: str) -> None:
    text = DESCRIPTOR.format(name=module.name, classname=classname, version=VERSION)
    (module / "plugin-descriptor.properties").write_text(text)


def _assemble(folder: Path, java: Path) -> None:
    lib, netty, gaps = folder / "lib", folder / "home/modules/transport-netty4", folder / "home/modules/gaps"
    for made in (lib, netty, gaps, folder / "home/plugins", folder / "home/config", folder / "home/lib"):
        made.mkdir(parents=True)
    (folder / "home/config/elasticsearch.yml").touch()
    _run(["mvn", "-q", "-B", "-f", HERE / "pom.xml", "dependency:copy-dependencies", f"-DoutputDirectory={lib}"], java)
    _compile(java, lib, "launcher", folder / "launcher")
    _compile(java, lib, "gaps", folder / "gaps")
    with zipfile.ZipFile(gaps / "gaps.jar", "w") as jar:
        for compiled in sorted((folder / "gaps").rglob("*.class")):
            jar.write(compiled, compiled.relative_to(folder / "gaps"))
    for pattern in ("transport-netty4-*.jar", "netty-*.jar"):
        for found in lib.glob(pattern):
            found.rename(netty / found.name)
    _describe(netty, "org.elasticsearch.transport.netty4.Netty4Plugin")
    _describe(gaps, "searchnode.gaps.GapsPlugin")


def build(java: Path) -> Path:
    """Folder of the assembled node, built when it is not there yet.

    Raises
    ------
    NodeUnavailable
        Without Maven, or when Maven cannot reach its repository.
    """
    sources = [HERE / "pom.xml", Path(__file__), *sorted((HERE / "src").rglob("*.java"))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    target = BUILD / f"{VERSION}-{digest}"
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            if shutil.which("mvn") is None:
                raise NodeUnavailable("Maven (mvn) is not installed; install it or set ELASTICSEARCH_URL")
            with tempfile.TemporaryDirectory(dir=BUILD) as folder:
                _assemble(Path(folder) / "node", java)
                (Path(folder) / "node").rename(target)
    return target
