"""Options that several commands share."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from whence.cli.output import note_json
from whence.errors import BadInput

if TYPE_CHECKING:
    from pydantic import BaseModel

    from whence.api.chunking import ChunkingFields

T = TypeVar("T", bound="BaseModel")
Command = TypeVar("Command", bound=Callable[..., Any])

json = click.option(
    "--json", is_flag=True, expose_value=False, callback=note_json, help="Print JSON for scripts."
)
project = click.option("--project", default="default", show_default=True, help="A project's name or id.")
file_type = click.option(
    "--type",
    "types",
    multiple=True,
    metavar="TYPE",
    help="Only files of this type, such as pdf or text/plain.",
)
_STATUSES = ("pending", "processing", "completed", "failed", "cancelled")
name = click.option("--name", help="Only names that contain this text, in any case.")
limit = click.option(
    "--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Maximum number of rows."
)
dry_run = click.option("--dry-run", is_flag=True, help="Only show what would happen.")
no_wait = click.option("--no-wait", is_flag=True, help="Leave the work to a running worker.")
yes = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")

DEFAULT_STRATEGY = "paragraph"
"""The default strategy of commands. The HTTP API's default is `character`. A project's own default takes precedence over both."""

_CHUNKING_FIELDS = {"maxChunkSize": "--max", "minChunkSize": "--min", "chunkingStrategy": "--strategy"}


def chunking(command: Command) -> Command:
    """Adds the options that `read_chunking` reads."""
    for option in (
        click.option(
            "--min", "min_size", type=int, help="Minimum size; shorter chunks join a neighbour. [100]"
        ),
        click.option("--max", "max_size", type=int, help="Maximum size of a chunk, in characters. [1200]"),
        click.option(
            "--strategy",
            help="The chunking strategy: character, sentence or paragraph.  [the project's, else paragraph]",
        ),
    ):
        command = option(command)
    return command


def status(help_text: str) -> Callable[[Command], Command]:
    return click.option("--status", type=click.Choice(_STATUSES), help=help_text)


def metadata(help_text: str, *, required: bool = False) -> Callable[[Command], Command]:
    """Adds the option --meta. The command gets a dict, or None without the option."""
    return click.option(
        "--meta",
        multiple=True,
        required=required,
        metavar="NAME=VALUE",
        help=help_text,
        callback=lambda _context, _option, given: read_pairs("--meta", given) or None,
    )


def read_pairs(option: str, given: Sequence[str], *, nested: bool = False) -> dict[str, Any]:
    """Reads NAME=VALUE pairs. A value is JSON if it is a number, true, false, null or quoted, else text. `nested` allows lists
    and objects.
    """
    pairs: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not name.strip() or not equals:
            raise click.UsageError(f"{option} must be NAME=VALUE, not {one!r}")
        pairs[name.strip()] = _read_value(value, nested=nested)
    return pairs


def _read_value(text: str, *, nested: bool) -> Any:
    from json import loads

    try:
        value = loads(text, parse_constant=lambda name: name)
    except ValueError:
        return text
    return value if nested or value is None or isinstance(value, str | int | float) else text


def read_usage(shape: type[T], given: dict[str, Any]) -> T:
    """Reads a request model of the API from options. A wrong value is a usage error."""
    from whence.api.reading import read

    try:
        return read(shape, given)
    except BadInput as exc:
        raise click.UsageError(exc.message) from exc


def read_chunking(strategy: str | None, max_size: int | None, min_size: int | None) -> "ChunkingFields":
    """Reads the chunking from options. A wrong value is a usage error."""
    from whence.api.chunking import ChunkingFields
    from whence.api.reading import read

    given = {"maxChunkSize": max_size, "minChunkSize": min_size}
    sizes = {name: size for name, size in given.items() if size is not None}
    try:
        fields = read(ChunkingFields, {"chunkingStrategy": strategy, "chunkingOptions": sizes or None})
        fields.chunking()  # checks the sizes
    except BadInput as exc:
        message = exc.message
        for field, option in _CHUNKING_FIELDS.items():
            message = message.replace(field, option)
        raise click.UsageError(message) from exc
    return fields
