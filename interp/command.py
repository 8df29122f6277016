"""The command itself: which verbs there are, loaded only when called, and how an error ends the process."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import Any, Final, NoReturn

import click

from interp.output.messages import print_error
from interpreters import __version__
from interpreters.core.errors import InterpError, ScriptError

GOOD: Final = 0
FINDING: Final = 1
MISUSE: Final = 2

VERBS: Final[dict[str, dict[str, str]]] = {
    "For script authors": {
        "run": "ask a script about an object",
        "test": "run the case tables of scripts",
        "lint": "find mistakes in scripts before they run",
        "new": "start a script with cases that pass",
        "list": "which script answers for which kind and operation",
        "export": "scripts as ResourceInterpreterCustomizations for Karmada",
    },
    "For operators": {
        "serve": "run the webhook that Karmada calls",
        "register": "print the configuration that makes Karmada call it",
        "certs": "make, check and rotate its certificates",
        "doctor": "check a running webhook as Karmada would",
        "estimator": "serve estimates over gRPC to karmada-scheduler",
    },
    "For quota auditors": {
        "estimate": "how many replicas or sets fit, and what stops the next one",
        "schedule": "where a workload would go, and why not elsewhere",
        "bind": "the ResourceBinding that Karmada would write",
        "admit": "whether a running server would admit manifests",
        "audit": "what workloads really cost their quotas",
        "cost": "what workloads cost in money, by team, workload and component",
        "ledger": "what is charged to whom",
    },
    "Around it": {
        "completion": "shell completion for bash, zsh and fish",
    },
}
SUMMARIES: Final = {verb: summary for verbs in VERBS.values() for verb, summary in verbs.items()}


class Verbs(click.Group):
    """Loads `interp.verbs.<verb>` when it is called, so that starting stays fast whatever verbs there are."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUMMARIES)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in SUMMARIES:
            return None
        command: click.Command = importlib.import_module(f"interp.verbs.{name}").command
        gc.freeze()  # what was imported stays; looking through it again and again would be in vain
        gc.enable()
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from difflib import get_close_matches

            near = get_close_matches(args[0], SUMMARIES)
            hint = f"did you mean {near[0]}?" if near else "interp --help lists them all."
            raise click.UsageError(f'there is no verb "{args[0]}"; {hint}', ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for audience, verbs in VERBS.items():
            with formatter.section(audience):
                formatter.write_dl(list(verbs.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="interp")
def interp() -> None:
    """Tells a multi-cluster scheduler what a custom resource really needs."""


def main() -> NoReturn:
    """Run the command; the exit code is 0 when all is good, 1 for a finding, 2 when it could not look."""
    if sys.stdout.isatty() or sys.stderr.isatty():
        from interp.output.terminal import guard

        guard()
    try:
        sys.exit(interp.main(prog_name="interp", standalone_mode=False, color=_colour()) or GOOD)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(MISUSE)
    except InterpError as error:
        print_error(str(error))
        # What is wrong with a script was found; anything else kept us from looking.
        sys.exit(FINDING if isinstance(error, ScriptError) else MISUSE)
    except (KeyboardInterrupt, click.Abort):
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(GOOD)
    except OSError as error:
        print_error(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        sys.exit(MISUSE)
    except Exception as error:
        if os.environ.get("INTERP_DEBUG"):
            raise
        print_error(f"a bug of interp: {type(error).__name__}: {error}; INTERP_DEBUG=1 shows where")
        sys.exit(FINDING)


def _colour() -> bool | None:
    """What the environment says about colour (no-color.org, force-color.org); None leaves it to the terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR") else None
