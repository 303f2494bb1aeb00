"""Prints results as text or JSON, and asks before irreversible actions."""

from collections.abc import Sequence
from typing import Any

import click

from whence.logs import escaped

_JSON = "whence.json"


def print_json(value: Any) -> None:
    """Prints plain data, dataclasses and models of `whence.api` as JSON."""
    import orjson

    text = orjson.dumps(
        value, default=lambda shape: shape.as_json(), option=orjson.OPT_UTC_Z | orjson.OPT_INDENT_2
    )
    click.echo(text.decode())


def note_json(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    context.meta[_JSON] = wanted


def wants_json() -> bool:
    """Whether the running command has the option --json."""
    return bool(click.get_current_context().meta.get(_JSON))


def printed_json(value: Any) -> bool:
    """Prints the value as JSON if the user asked for it. Returns whether it did."""
    if wants_json():
        print_json(value)
    return wants_json()


def print_result(value: Any, text: str) -> None:
    """Prints the value as JSON with --json, else the text."""
    if not printed_json(value):
        click.echo(text)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, total: int = 0) -> None:
    """Prints aligned columns. If `total` is larger, prints a note on standard error."""
    lines = [columns, *([("" if cell is None else printable(str(cell))) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for number, line in enumerate(lines):
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.secho("  ".join(cells).rstrip(), bold=number == 0)
    if total > len(rows):
        click.echo(f"{len(rows)} of {total}; see --limit.", err=True)


def print_rows(value: Any, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, total: int = 0) -> None:
    """Prints the value as JSON with --json, else a table."""
    if not printed_json(value):
        print_table(columns, rows, total=total)


def print_title(name: str, ident: object, *, kind: str = "") -> None:
    click.echo(f"{kind}{click.style(printable(name), bold=True)}  {ident}")


def print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        click.secho(note, err=True, fg="yellow")


def confirm(question: str, *, yes: bool) -> None:
    """Aborts unless the user agrees, or gave --yes."""
    if not yes:
        click.confirm(question, abort=True, err=True)


def counted(count: int, what: str, several: str | None = None) -> str:
    return f"1 {what}" if count == 1 else f"{count} {several or what + 's'}"


def printable(text: str, *, keep: str = "") -> str:
    """The text on one line, with control characters and direction marks escaped, except those in `keep`."""
    return escaped("".join(" " if c.isspace() and c not in keep else c for c in text), keep=keep)


def on_one_line(value: Any) -> str:
    """Text as it is, any other value as JSON."""
    import json

    return printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def shorten(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def page_suffix(page: int | None) -> str:
    return "" if page is None else f", page {page}"
