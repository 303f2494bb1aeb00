"""Shared by commands: opening the application, and printing for people or scripts."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:  # the real imports are heavy and stay inside the functions
    from whence.app import App

T = TypeVar("T")

EXIT_TERMINATED = 143

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")


def with_app(work: "Callable[[App], Awaitable[T]]", *, connections: int = 2) -> T:
    """Runs `work` on an open application. Starts the embedded database unless it is running already.

    SIGTERM acts like Ctrl-C: it cancels `work` and closes the application.
    """
    import asyncio
    import signal

    from whence.app import App
    from whence.logs import configure
    from whence.settings import Settings

    async def run() -> T:
        task = asyncio.current_task()
        assert task is not None, "asyncio runs this"
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        async with App.open(settings) as app:
            return await work(app)

    settings = Settings.from_environment(pool_size=connections)
    configure("warning", settings.log_format)
    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        click.echo("Terminated.", err=True)
        raise click.exceptions.Exit(EXIT_TERMINATED) from None


def print_json(value: Any) -> None:
    """Prints a shape of `whence.api`, a list of them, or plain data."""
    import orjson

    shapes = value if isinstance(value, list) else [value]
    plain = [one.as_json() if hasattr(one, "as_json") else one for one in shapes]
    shown = plain if isinstance(value, list) else plain[0]
    click.echo(orjson.dumps(shown, option=orjson.OPT_UTC_Z | orjson.OPT_INDENT_2).decode())


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Prints aligned columns, on a terminal with a bold head."""
    cells = [[("" if cell is None else str(cell)) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(columns), *cells]) for i in range(len(columns))]
    click.secho(
        "  ".join(name.ljust(width) for name, width in zip(columns, widths, strict=True)).rstrip(), bold=True
    )
    for line in cells:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def counted(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}s"


def printable(text: str) -> str:
    """The text on one line, without terminal control characters."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "�" for c in text)
