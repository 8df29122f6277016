"""`interp certs`: make, check and rotate the certificates that the webhook serves with and its clients show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from interp.output.findings import FINDINGS, exit_code

if TYPE_CHECKING:
    from certs.folder import Folder


_folder = click.option(
    "--dir", "folder", type=click.Path(path_type=Path), default="certs/dev", show_default=True,
    help="The folder with ca.crt, ca.key, tls.crt and tls.key.",
)  # fmt: skip
_days = click.option("--days", type=click.IntRange(1, 3650), default=397, show_default=True)


def _common(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where the certificates live and what the server is called: the same three ways."""
    options = (
        _folder,
        click.option("--url", "urls", multiple=True, help="A URL that the webhook is reached by."),
        click.option("--service", "services", multiple=True, metavar="NS/NAME", help="A Service in front of it."),
        click.option("--name", "names", multiple=True, help="Any other host name or address."),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


@click.group(name="certs", help="Make, check and rotate the webhook's certificates, and its clients'.")
def command() -> None:
    pass


@command.command()
@_common
@_days
@click.option("--force", is_flag=True, help="Throw away the keys that are there.")
def make(*, folder: Path, urls: tuple[str, ...], services: tuple[str, ...], names: tuple[str, ...], days: int,
         force: bool) -> None:  # fmt: skip
    """A certificate authority and a server certificate."""
    from certs.folder import make_folder

    wanted = _names(urls, services, names) or ["localhost", "127.0.0.1", "::1"]
    _say(folder, make_folder(folder, wanted, days=days, force=force))


@command.command()
@_common
@FINDINGS.option
def check(*, folder: Path, urls: tuple[str, ...], services: tuple[str, ...],
          names: tuple[str, ...], output: str) -> None:  # fmt: skip
    """Names, dates, trust, key and file modes; exits 1 when something is wrong."""
    from certs.check import FindingsReport, check_folder

    report = FindingsReport(folder=str(folder), findings=check_folder(folder, _names(urls, services, names)))
    FINDINGS.print(output, report)
    raise click.exceptions.Exit(exit_code(report))


@command.command()
@click.argument("name")
@_folder
@_days
def client(*, name: str, folder: Path, days: int) -> None:
    """A certificate for a client of the second listener (clientCa), such as Prometheus. Again: a new one.

    \b
    interp certs client prometheus --dir pki
    curl --cacert pki/ca.crt --cert pki/clients/prometheus.crt --key pki/clients/prometheus.key https://…:9443/metrics
    """
    from certs.clients import CLIENTS, make_client
    from certs.folder import read_folder

    made = make_client(folder, read_folder(folder), name, days=days)
    until = f"until {made.certificate.not_valid_after_utc:%Y-%m-%d}"
    click.echo(f"{folder / CLIENTS / name}.crt: for {name}, {until}; its key is {name}.key")


@command.command()
@_common
@_days
@click.option("--ca", "authority", is_flag=True, help="A new authority too; the old one stays trusted.")
@click.option("--retire", is_flag=True, help="End of a --ca rotation: stop trusting the old authorities.")
def rotate(*, folder: Path, urls: tuple[str, ...], services: tuple[str, ...], names: tuple[str, ...], days: int,
           authority: bool, retire: bool) -> None:  # fmt: skip
    """A new server certificate; a running webhook picks it up by itself. Clients keep theirs, but for --ca."""
    from certs.clients import CLIENTS, renew_clients
    from certs.folder import read_folder, renew_authority, renew_server, retire_authorities, write_folder

    if authority and retire:
        raise click.UsageError("--ca begins a rotation of the authority and --retire ends it: one at a time")
    wanted = _names(urls, services, names) or None
    now = read_folder(folder, wanted)
    if retire:
        after = retire_authorities(now)
    else:
        after = (renew_authority if authority else renew_server)(now, wanted, days=days)
    write_folder(folder, after)
    _say(folder, after)
    if len(after.trusted) > 1 and not after.server.chain:
        click.echo("the old tls.crt held what clients with an older ca.crt need: they no longer accept the server")
    if authority:
        for name in renew_clients(folder, after, days=days):
            click.echo(f"{folder / CLIENTS / name}.crt: new, from the new authority; hand it out before --retire")
        click.echo(
            "clients with the old ca.crt still accept the server; register again with the new ca.crt,"
            f" then run `interp certs rotate --dir {folder} --retire`"
        )


def _names(urls: tuple[str, ...], services: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    from certs.authority import service_names, url_names

    found = [name for url in urls for name in url_names(url)]
    found += [name for service in services for name in service_names(service)]
    return [*found, *names]


def _say(path: Path, folder: Folder) -> None:
    from certs.authority import names_of

    certificate = folder.server.certificate
    click.echo(
        f"{path}/tls.crt: for {', '.join(names_of(certificate))}, until {certificate.not_valid_after_utc:%Y-%m-%d}"
    )
    click.echo(f"{path}/ca.crt: {len(folder.trusted)} trusted, until {folder.trusted[0].not_valid_after_utc:%Y-%m-%d}")
