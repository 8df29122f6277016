"""Certificates for the webhook's clients, which its second listener may demand: `clients/<name>.crt` and `.key`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from certs.authority import LONGEST_COMMON_NAME, SERVER_DAYS, Credential, issue
from certs.folder import Folder, write_credential
from interpreters.core.errors import InputError

CLIENTS = "clients"


def client_files(path: Path) -> dict[str, tuple[Path, Path]]:
    """Certificate and key of each client in a folder of certificates; the key may have been moved to its owner."""
    return {file.stem: _files(path, file.stem) for file in sorted((path / CLIENTS).glob("*.crt"))}


def make_client(path: Path, folder: Folder, name: str, *, days: int = SERVER_DAYS) -> Credential:
    """A certificate that proves a client of this name, from the folder's authority; in place of one that is there."""
    if "*" in name or len(name) > LONGEST_COMMON_NAME:
        raise InputError(f'"{name}": a client is called by one name of at most {LONGEST_COMMON_NAME} characters')
    # During a rotation of the authority, listeners that know only the old one need the cross-signed new one as well.
    client = replace(issue(folder.authority, [name], days, client=True), chain=folder.server.chain)
    (path / CLIENTS).mkdir(parents=True, exist_ok=True)
    write_credential(client, *_files(path, name))
    return client


def renew_clients(path: Path, folder: Folder, *, days: int = SERVER_DAYS) -> list[str]:
    """New certificates for all clients there are; their names."""
    names = list(client_files(path))
    for name in names:
        make_client(path, folder, name, days=days)
    return names


def _files(path: Path, name: str) -> tuple[Path, Path]:
    return path / CLIENTS / f"{name}.crt", path / CLIENTS / f"{name}.key"
