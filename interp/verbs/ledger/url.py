"""The argument that all verbs about a ledger have."""

from __future__ import annotations

import click

url_argument = click.argument("url", metavar="URL", envvar="INTERP_LEDGER")
