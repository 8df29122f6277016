"""`interp serve`: run the webhook. Its flags are the fields of the settings, so there is no second list of them."""

from __future__ import annotations

from typing import Any

import click


class ServeCommand(click.Command):
    """Makes its options when they are first asked for, because that imports the settings."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        if len(self.params) == 2:
            self.params += _options()
        return super().get_params(ctx)


def _options() -> list[click.Parameter]:
    from interp.options.completions import one_of
    from webhook.server.settings import attribute, schema
    from webhook.server.settings_sources import flag, type_of, variable

    return [
        click.Option(
            [f"{flag(key)}/--no-{flag(key)[2:]}" if kind == "boolean" else flag(key), attribute(key)],
            multiple=kind in ("array", "object"),
            default=None,
            metavar=None if kind == "boolean" else _metavar(field, kind),
            help=f"{field['description']} [{variable(key)}]",
            shell_complete=one_of(field["enum"]) if "enum" in field else None,
        )
        for key, field in schema()["properties"].items()
        for kind in [type_of(key)]
    ]


def _metavar(field: dict[str, Any], kind: str) -> str:
    if "enum" in field:
        return "|".join(field["enum"])
    return {"integer": "N", "number": "N", "object": "NAME=VALUE", "array": "TEXT"}.get(kind, "TEXT")


@click.command(name="serve", cls=ServeCommand)
@click.option("--config", type=click.Path(dir_okay=False), help="One YAML file with settings. [INTERP_CONFIG]")
@click.option("--print-config", is_flag=True, help="Print the settings in force, secrets masked, and exit.")
@click.pass_context
def command(context: click.Context, /, config: str | None, print_config: bool, **flags: Any) -> None:
    """Run the webhook that Karmada calls.

    Flags win over INTERP_* variables, which win over the settings file.
    """
    import os

    from webhook.server.settings import shown
    from webhook.server.settings_sources import load_settings, stray_variables

    settings = load_settings(_given(flags), os.environ, config, to_serve=not print_config)
    strays = stray_variables(os.environ)
    if print_config:
        from interp.output.yaml import print_yaml

        for stray in strays:
            click.echo(f"warning: {stray}", err=True)
        print_yaml(shown(settings))
        return
    from webhook.server import logs

    logs.configure(settings.log_level)
    for stray in strays:
        logs.LOGGER.warning(stray)
    if settings.processes > 1:
        from webhook.supervisor import supervise

        context.exit(supervise(settings))
    from webhook.process import run

    context.exit(run(settings))


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    """Only the flags that were given, by YAML key, with texts turned into the values they stand for."""
    from webhook.server.settings import attribute, schema
    from webhook.server.settings_sources import from_text, type_of

    given: dict[str, Any] = {}
    for key in schema()["properties"]:
        value = flags[attribute(key)]
        if value is None or value == ():
            continue
        if isinstance(value, tuple):
            value = from_text(key, ",".join(value)) if type_of(key) == "object" else list(value)
        given[key] = from_text(key, value) if isinstance(value, str) else value
    return given
