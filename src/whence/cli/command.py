"""Runs a command on the open application, finds what its arguments name, and waits for jobs."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar
from uuid import UUID

import click

from whence.cli.output import printable
from whence.errors import Conflict, NotFound

if TYPE_CHECKING:
    from whence import app as _app
    from whence.models import Project

    App: TypeAlias = _app.App
else:
    App = Any  # importing it takes a second, which `--help` does not have

T = TypeVar("T")
P = ParamSpec("P")

EXIT_FAILED = 1
EXIT_TERMINATED = 143

_CONNECTIONS = 10
_PAUSE = 0.3
_LOOK_FOR_WORKER_EVERY = 5.0


def on_app(command: Callable[Concatenate[App, P], Awaitable[None]]) -> Callable[P, None]:
    """Makes a command of a coroutine function whose first argument is the open application."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with_app(lambda app: command(app, *args, **kwargs))

    return run


def with_app(work: Callable[[App], Awaitable[T]]) -> T:
    """Runs `work` on an open application. Starts the embedded database unless it is running already.

    SIGTERM acts like Ctrl-C: it cancels `work` and closes the application.
    """
    import asyncio
    import signal

    from whence import links
    from whence.app import App
    from whence.logs import configure
    from whence.settings import Settings

    async def run() -> T:
        task = asyncio.current_task()
        assert task is not None, "asyncio runs this"
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        links.base.set(settings.link_base)
        async with App.open(settings) as app:
            return await work(app)

    settings = Settings.from_environment(pool_size=_CONNECTIONS)
    configure("warning", settings.log_format)
    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        click.echo("Terminated.", err=True)
        raise click.exceptions.Exit(EXIT_TERMINATED) from None


async def find_project(app: App, project: str) -> "Project":
    """By id, or by name."""
    try:
        ident = UUID(project)
    except ValueError:
        return await app.store.projects.named(project)
    return await app.store.projects.get(ident)


def take_only(
    found: Sequence[T], missing: type[NotFound], *, kind: str, name: str, label: Callable[[T], str]
) -> T:
    """The one that has the name; raises if none or several have it."""
    if not found:
        raise missing(f"There is no {kind} named {printable(name)!r}")
    if len(found) > 1:
        ids = ", ".join(map(label, found))
        raise Conflict(f"Several {kind}s are named {printable(name)!r}; say which by its id: {ids}")
    return found[0]


@asynccontextmanager
async def worker_at_hand(app: App) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Gives a function, to be called again and again, that starts a worker here if no other is alive."""
    from time import monotonic

    next_look: float | None = 0.0

    async def ensure() -> None:
        nonlocal next_look
        if next_look is None or monotonic() < next_look:
            return
        next_look = monotonic() + _LOOK_FOR_WORKER_EVERY
        if not await app.store.queue.worker_alive():
            next_look = None
            await stack.enter_async_context(app.working())

    async with AsyncExitStack() as stack:
        yield ensure


@contextmanager
def progress(label: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Shows a bar on a terminal; gives a function that takes the progress and the total."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


async def wait_for_jobs(
    app: App, label: str, look: Callable[[], Awaitable[tuple[int, int] | None]], *, quiet: bool
) -> None:
    """Shows the progress until `look` returns None."""
    import asyncio

    with progress(label, quiet=quiet) as show:
        async with worker_at_hand(app) as ensure_worker:
            while True:
                await ensure_worker()
                if (done := await look()) is None:
                    return
                show(*done)
                await asyncio.sleep(_PAUSE)
