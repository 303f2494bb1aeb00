"""`--meta NAME=VALUE`: metadata of documents on the command line."""

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def meta_option(help_text: str) -> Callable[[Command], Command]:
    return click.option("--meta", multiple=True, metavar="NAME=VALUE", help=help_text)


def metadata_of(given: Sequence[str]) -> dict[str, Any] | None:
    """Values are JSON if they are a number, true, false, null or quoted, else text."""
    if not given:
        return None
    metadata: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not name.strip() or not equals:
            raise click.UsageError(f"--meta must be NAME=VALUE, not {one!r}")
        metadata[name.strip()] = _value(value)
    return metadata


def _value(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=lambda name: name)
    except ValueError:
        return text
    return value if value is None or isinstance(value, str | int | float) else text
