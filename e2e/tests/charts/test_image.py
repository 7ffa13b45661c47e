"""What the image `fieldveil` holds, by the scripts that its Dockerfile and the tests' own build share."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from dev.layout import DEPLOY, FIELDVEIL, FILTER_NATIVE, FILTER_WASM, JSON_FILTER_WASM, MYSQL_FILTER_WASM, ROOT

IMAGES = DEPLOY / "images"
# What the Dockerfile adds itself, and the tests' build, too.
OF_THE_SYSTEM = {"/etc/ssl/certs/ca-certificates.crt", "/etc/passwd", "/etc/group"}
# `COPY FROM… TO` out of the repository, not out of another stage.
COPIED = re.compile(r"^COPY (?!--from)(.*)$", re.MULTILINE)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    root = tmp_path / "image"
    modules = (FILTER_WASM, MYSQL_FILTER_WASM, JSON_FILTER_WASM, FILTER_NATIVE)
    subprocess.run([IMAGES / "assemble", root, FIELDVEIL, *modules], check=True)
    return root


def test_image_holds_what_its_document_says_and_nothing_else(image: Path) -> None:
    there = {f"/{path.relative_to(image)}" for path in image.rglob("*") if path.is_file()}
    table = re.findall(r"^\| (`/.*?) \|", (IMAGES / "README.md").read_text(), re.MULTILINE)
    assert there | OF_THE_SYSTEM == set(re.findall(r"`(.*?)`", " ".join(table)))
    assert {path.name for path in image.rglob("*") if path.is_file() and path.stat().st_mode & 0o111} == {"fieldveil"}
    assert all(path.stat().st_mode & 0o004 for path in image.rglob("*")), "not everybody can read all of it"


def test_modules_of_the_image_are_copied_out_of_it(image: Path, tmp_path: Path) -> None:
    to = tmp_path / "modules"
    to.mkdir()
    command = [image / "usr/local/bin/fieldveil", "modules", "copy", "--from", image / "modules", to]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == (to / "SHA256SUMS").read_text()
    assert (to / "filter-postgres.wasm").read_bytes() == FILTER_WASM.read_bytes()
    assert (to / "filter-mysql.wasm").read_bytes() == MYSQL_FILTER_WASM.read_bytes()
    assert (to / "filter-json.wasm").read_bytes() == JSON_FILTER_WASM.read_bytes()
    assert (to / "libfieldveil.so").read_bytes() == FILTER_NATIVE.read_bytes()
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0


def test_all_that_is_built_here_has_one_version() -> None:
    said = subprocess.run([IMAGES / "version"], check=True, capture_output=True, text=True).stdout.strip()
    chart = ROOT / "charts" / "fieldveil"
    for file in (chart / "Chart.yaml", chart / "charts" / "fieldveil-sidecar" / "Chart.yaml"):
        described = yaml.safe_load(file.read_text())
        assert (described["version"], described["appVersion"]) == (said, said), file


def test_what_the_dockerfile_copies_is_there_and_not_ignored() -> None:
    ignored = (IMAGES / "Dockerfile.dockerignore").read_text().split("\n")
    let_through = {line[1:] for line in ignored if line.startswith("!")}
    copied = {word for line in COPIED.findall((IMAGES / "Dockerfile").read_text()) for word in line.split()[:-1]}
    assert copied == let_through
    assert [word for word in copied if not (ROOT / word).exists()] == []
