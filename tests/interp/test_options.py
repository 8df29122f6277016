"""What a verb may be told is one dataclass, by the names of its options; what it prints is one table of formats."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

import click
import pytest

from interp.command import SUMMARIES
from interp.command import interp as group

MOST_PARAMETERS = 7
OF_SCRIPTS = {"scripts", "folders", "customizations", "no_bundled"}


def _commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield context.command_path, command
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from _commands(found, click.Context(found, context, name))


COMMANDS = dict(_commands(group, click.Context(group, info_name="interp")))


def _callback(command: click.Command) -> Callable[..., object]:
    assert command.callback is not None
    return command.callback


def _parameters(command: click.Command) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(inspect.unwrap(_callback(command))).parameters)


def _fields(command: click.Command) -> set[str] | None:
    """The names in the Options of a command; None if it takes its few options one by one."""
    if list(_parameters(command)) != ["options"]:
        return None
    options = inspect.getmodule(inspect.unwrap(_callback(command))).Options  # type: ignore[union-attr]
    return set(inspect.signature(options).parameters)


def test_all_verbs_are_looked_at() -> None:
    assert {path.split()[1] for path in COMMANDS} == {*SUMMARIES}


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_with_many_options_takes_them_as_one_dataclass(path: str) -> None:
    assert len(_parameters(COMMANDS[path])) <= MOST_PARAMETERS, "group them in a frozen dataclass, with read_into"


@pytest.mark.parametrize("path", [path for path, command in COMMANDS.items() if _fields(command) is not None])
def test_the_dataclass_has_a_field_for_every_option_and_no_other(path: str) -> None:
    names = {str(parameter.name) for parameter in COMMANDS[path].params}
    if names >= OF_SCRIPTS:
        names = names - OF_SCRIPTS | {"sources"}
    assert _fields(COMMANDS[path]) == names
