"""`interp completion`: the text that teaches a shell to complete the command."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion", short_help="shell completion for bash, zsh and fish")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the completion script for SHELL.

    \b
    bash: interp completion bash > ~/.local/share/bash-completion/completions/interp
    zsh:  interp completion zsh > "${fpath[1]}/_interp"
    fish: interp completion fish > ~/.config/fish/completions/interp.fish
    """
    root = ctx.find_root().command
    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(completion(root, {}, "interp", "_INTERP_COMPLETE").source())
    return 0
