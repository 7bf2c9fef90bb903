"""Fixtures of all tests: the real servers, and a corner of them for each test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from spades_local.testing import Infra, Namespace, serve_infra


@pytest.fixture(scope="session")
def infra(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Infra]:
    """The real PostgreSQL and Kafka: those the environment names, else embedded ones."""
    folder = tmp_path_factory.mktemp("servers")
    if os.geteuid() == 0:
        # The database server runs as nobody then, and has to find its folder.
        for place in (folder, folder.parent, folder.parent.parent):
            place.chmod(0o711)
    with serve_infra(folder) as servers:
        yield servers


@pytest.fixture
def namespace(infra: Infra, tmp_path: Path) -> Iterator[Namespace]:
    """Topics, groups, schemas and roles that no other test sees; removed afterwards."""
    corner = Namespace(infra, tmp_path)
    yield corner
    corner.drop()


@pytest.fixture(scope="module")
def module_namespace(infra: Infra, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Namespace]:
    """The same, shared by the tests of one file."""
    corner = Namespace(infra, tmp_path_factory.mktemp("namespace"))
    yield corner
    corner.drop()
