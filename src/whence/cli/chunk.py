"""`whence chunk`: shows how a file would be chunked. Stores nothing."""

from typing import IO, TYPE_CHECKING

import click

from whence.cli import options
from whence.cli.output import counted, printable, printed_json

if TYPE_CHECKING:  # `whence --help` imports this module and needs none of these
    from whence.api.chunking import PreviewAnswer, PreviewChunk

_COLOURS = {"section": "magenta", "paragraph": "green", "sentence": "cyan", "character": "yellow"}


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option(
    "--strategy", "name", default=options.DEFAULT_STRATEGY, show_default=True, help="The chunking strategy."
)
@click.option(
    "--max",
    "max_size",
    type=int,
    default=1200,
    show_default=True,
    help="Maximum size of a chunk, in characters.",
)
@click.option(
    "--min", "min_size", type=int, show_default="100", help="Minimum size; shorter chunks join a neighbour."
)
@options.json
def chunk(file: IO[bytes], *, name: str, max_size: int, min_size: int | None) -> None:
    """Show how FILE (any type that can be ingested, `-` for standard input) would be chunked."""
    from whence.api.chunking import PreviewAnswer
    from whence.chunk import strategy

    chunking = options.read_chunking(name, max_size, min_size).chunking()
    text, code = _read(file)
    shown = PreviewAnswer.preview(text, strategy(name, code=code), chunking.options)
    if printed_json(shown):
        return
    for one in shown.chunks:
        click.secho(_describe(one), bold=True, fg=_COLOURS[one.boundary_type])
        click.echo(printable(one.text, keep="\n\t"))
    click.echo(_summarise(shown))


def _describe(chunk: "PreviewChunk") -> str:
    """A line with the boundary and its type."""
    span = f"{chunk.start_offset}-{chunk.end_offset}, {chunk.size} characters"
    parts = [str(chunk.index), chunk.boundary_type, span, printable(" > ".join(chunk.headings))]
    return f"──┤ {' · '.join(filter(None, parts))} ├──"


def _summarise(shown: "PreviewAnswer") -> str:
    summary = shown.summary
    share = summary.sentence_end_share
    ends = "" if share is None else f", {share:.0%} of the cuts at a sentence's end"
    sizes = f"{summary.min_size} to {summary.max_size} characters (median {summary.median_size:g})"
    return f"{shown.chunking_strategy}: {counted(summary.count, 'chunk')} of {sizes}{ends}"


def _read(file: IO[bytes]) -> tuple[str, bool]:
    """The text, and whether it is source code."""
    import asyncio
    from pathlib import Path
    from tempfile import NamedTemporaryFile

    from whence.parse import Limits, Parsed, Parser, is_code
    from whence.settings import Settings

    async def read(path: Path) -> Parsed:
        async with Parser(Limits.of(Settings.from_environment())) as parser:
            return await parser.parse(path, name=Path(getattr(file, "name", "-")).name)

    with NamedTemporaryFile() as copy:
        copy.write(file.read())
        copy.flush()
        parsed = asyncio.run(read(Path(copy.name)))
    return parsed.text, is_code(parsed.mime)
