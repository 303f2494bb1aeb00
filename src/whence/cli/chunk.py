"""`whence chunk`: shows how a file would be cut. It stores nothing."""

from typing import IO, TYPE_CHECKING

import click

from whence.cli import options
from whence.cli.output import counted, printable, printed_json

if TYPE_CHECKING:  # `whence --help` imports this module and needs none of these
    from whence.chunk import ChunkResult, Preview

_COLOURS = {"section": "magenta", "paragraph": "green", "sentence": "cyan", "character": "yellow"}


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option("--strategy", "name", default="character", show_default=True, help="The chunking strategy.")
@click.option(
    "--max", "max_size", type=int, default=1200, show_default=True, help="Longest chunk, in characters."
)
@click.option("--min", "min_size", type=int, show_default="100", help="Shorter chunks join a neighbour.")
@options.json
def chunk(file: IO[bytes], *, name: str, max_size: int, min_size: int | None) -> None:
    """Show how FILE (any type that can be ingested, `-` for text on standard input) would be chunked."""
    from whence.api.chunking import PreviewAnswer
    from whence.chunk import preview, strategy

    chunking = options.read_chunking(name, max_size, min_size).chunking()
    text, code = _read(file)
    shown = preview(text, strategy(name, code=code), chunking.options)
    if printed_json(PreviewAnswer.of(shown)):
        return
    for index, one in enumerate(shown.chunks):
        click.secho(_describe(index, one), bold=True, fg=_COLOURS[one.boundary_type])
        click.echo(printable(one.text, keep="\n\t"))
    click.echo(_summarise(shown))


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
