"""`whence chunk`: shows how a file would be cut. It stores nothing."""

from itertools import zip_longest
from typing import IO, TYPE_CHECKING

import click

from whence.cli import options
from whence.cli.output import counted, print_json, printable, wants_json
from whence.errors import InvalidParameter, StrategyError

if TYPE_CHECKING:  # `whence --help` imports this module and needs none of these
    from collections.abc import Mapping

    from rich.table import Table
    from rich.text import Text

    from whence.api.chunking import PreviewAnswer
    from whence.chunk import ChunkingOptions, ChunkingStrategy, ChunkResult, Preview

_COLOURS = {"section": "magenta", "paragraph": "green", "sentence": "cyan", "character": "yellow"}
_EXCERPT = 60


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option("--strategy", "name", show_default="character", help="The chunking strategy.")
@click.option(
    "--max", "max_size", type=int, default=1200, show_default=True, help="Longest chunk, in characters."
)
@click.option("--min", "min_size", type=int, show_default="100", help="Shorter chunks join a neighbour.")
@options.json
@click.option("--compare", is_flag=True, help="Show every strategy side by side.")
def chunk(file: IO[bytes], *, name: str | None, max_size: int, min_size: int | None, compare: bool) -> None:
    """Show how FILE (any type that can be ingested, `-` for text on standard input) would be chunked."""
    from whence.chunk import DEFAULT_STRATEGY, ChunkingOptions, preview, strategies, strategy

    if compare and name is not None:
        raise click.UsageError("--compare shows every strategy; leave --strategy out")
    text, code = _read(file)
    try:
        sizes = {} if min_size is None else {"min_chunk_size": min_size}
        wanted = DEFAULT_STRATEGY if name is None else name
        chunking = ChunkingOptions(max_chunk_size=max_size, **sizes)
        chosen = list(strategies(code=code).values()) if compare else [strategy(wanted, code=code)]
    except InvalidParameter as exc:
        raise click.UsageError(options.name_chunking_options(exc.message)) from exc
    if compare:
        _compare(text, chosen, chunking)
        return
    shown = preview(text, chosen[0], chunking)
    if wants_json():
        print_json(_to_answer(shown))
        return
    for index, one in enumerate(shown.chunks):
        click.secho(_describe(index, one), bold=True, fg=_COLOURS[one.boundary_type])
        click.echo(printable(one.text, keep="\n\t"))
    click.echo(_summarise(shown))


def _compare(text: str, chosen: "list[ChunkingStrategy]", chunking: "ChunkingOptions") -> None:
    """A strategy that fails shows its error; the others are still compared."""
    from rich.console import Console

    from whence.chunk import preview

    found: dict[str, Preview | StrategyError] = {}
    for one in chosen:
        try:
            found[one.name] = preview(text, one, chunking)
        except StrategyError as exc:
            found[one.name] = exc
    if wants_json():
        answers = [
            {"chunkingStrategy": name, "error": one.message}
            if isinstance(one, StrategyError)
            else _to_answer(one)
            for name, one in found.items()
        ]
        print_json(answers)
    else:
        Console(highlight=False, markup=False).print(_draw_comparison(found))


def _to_answer(shown: "Preview") -> "PreviewAnswer":
    from whence.api.chunking import PreviewAnswer

    return PreviewAnswer.of(shown)


def _describe(index: int, chunk: "ChunkResult") -> str:
    """A line with the boundary and its type."""
    span = f"{chunk.start_offset}-{chunk.end_offset}, {len(chunk.text)} characters"
    parts = [str(index), chunk.boundary_type, span, printable(" > ".join(chunk.headings))]
    return f"──┤ {' · '.join(filter(None, parts))} ├──"


def _summarise(shown: "Preview") -> str:
    summary = shown.summary
    share = summary.sentence_end_share
    ends = "" if share is None else f", {share:.0%} of the cuts at a sentence's end"
    sizes = f"{summary.min_size} to {summary.max_size} characters (median {summary.median_size:g})"
    return f"{shown.strategy}: {counted(summary.count, 'chunk')} of {sizes}{ends}"


def _draw_comparison(found: "Mapping[str, Preview | StrategyError]") -> "Table":
    """One column per strategy: its summary or its error, then the beginning and end of each chunk."""
    from rich.table import Table
    from rich.text import Text

    table = Table(show_lines=True, expand=True)
    columns: list[list[Text]] = []
    for name, one in found.items():
        table.add_column(name, ratio=1, overflow="fold")
        if isinstance(one, StrategyError):
            columns.append([Text(one.message, style="red")])
        else:
            columns.append([Text(_summarise(one).partition(": ")[2]), *map(_excerpt, one.chunks)])
    for row in zip_longest(*columns, fillvalue=Text()):
        table.add_row(*row)
    return table


def _excerpt(chunk: "ChunkResult") -> "Text":
    from rich.text import Text

    words = " ".join(chunk.text.split())
    if len(words) > 2 * _EXCERPT:
        words = f"{words[:_EXCERPT]} … {words[-_EXCERPT:]}"
    label = f"{chunk.boundary_type} {chunk.start_offset}-{chunk.end_offset}"
    return Text.assemble((label, f"bold {_COLOURS[chunk.boundary_type]}"), "\n", words)


def _read(file: IO[bytes]) -> tuple[str, bool]:
    """The text, and whether it is source code. Standard input must be text; a file may have any supported type."""
    import asyncio
    from pathlib import Path

    from whence.parse import Limits, Parsed, Parser, is_code
    from whence.settings import Settings

    path = Path(str(getattr(file, "name", "-")))
    if not path.is_file():
        return _decode(file), False

    async def read() -> Parsed:
        async with Parser(Limits.of(Settings.from_environment())) as parser:
            return await parser.parse(path, name=path.name)

    parsed = asyncio.run(read())
    return parsed.text, is_code(parsed.mime)


def _decode(file: IO[bytes]) -> str:
    content = file.read()
    if not content:
        raise click.ClickException("Cannot chunk the input: it is empty")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise click.ClickException(
            f"Cannot chunk the input: it is not UTF-8 text (byte {exc.start})"
        ) from exc
