"""Runs commands on the application, resolves their arguments, and waits for jobs."""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar
from uuid import UUID

import click

from whence.cli.output import printable
from whence.errors import Conflict, NotFound

if TYPE_CHECKING:
    from whence import app as _app
    from whence.cli import api as _api
    from whence.models import Project
    from whence.settings import Settings

    App: TypeAlias = _app.App
    Api: TypeAlias = _api.Api
else:
    App = Api = Any  # imported later: they take a second, too long for `--help`

T = TypeVar("T")
P = ParamSpec("P")

EXIT_FAILED = 1
_GIVEN = "whence.server"
EXIT_TERMINATED = 143

_CONNECTIONS = 10
_PAUSE = 0.3
_LOOK_FOR_WORKER_EVERY = 5.0


def on_app(command: Callable[Concatenate[App, P], Awaitable[None]]) -> Callable[P, None]:
    """Turns a coroutine function into a command. Its first argument is the open application."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with_app(lambda app: command(app, *args, **kwargs))

    return run


def on_api(command: Callable[Concatenate[Api, P], Awaitable[None]]) -> Callable[P, None]:
    """Turns a coroutine function into a command. Its first argument is the API, of this process or of --server."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with_api(lambda api: command(api, *args, **kwargs))

    return works_remotely(run)


def works_remotely(command: Callable[P, T]) -> Callable[P, T]:
    """Marks a command that supports --server."""
    vars(command)[_GIVEN] = True
    return command


def named_project(project: str) -> str | None:
    """The project of the option; None if it was not given. Then the key's project is used, else the default one."""
    source = click.get_current_context().get_parameter_source("project")
    return None if source is click.core.ParameterSource.DEFAULT else project


def add_server_options(command: click.Command) -> None:
    """Adds --server and --key to a command and its subcommands. Commands that do not support them hide and refuse them."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            add_server_options(one)
        return
    if any(option.name == "server" for option in command.params):
        return
    hidden = _GIVEN not in vars(command.callback)
    for names, metavar, words in (
        (["--server"], "URL", "Work on the server at this address.  [WHENCE_URL]"),
        (
            ["--key", "server_key"],
            "KEY",
            "The API key of that server. WHENCE_API_KEY is safer, because other users can see command lines.",
        ),
    ):
        option = click.Option(
            names, metavar=metavar, help=words, hidden=hidden, expose_value=False, callback=_note_server
        )
        command.params.append(option)


def _note_server(context: click.Context, option: click.Parameter, given: str | None) -> None:
    if given is None:
        return
    if getattr(option, "hidden", False):
        raise click.UsageError(
            f"`{context.command_path}` works on the local installation only; run it there without --server"
        )
    variable = {"server": "WHENCE_URL", "server_key": "WHENCE_API_KEY"}[option.name or ""]
    context.meta.setdefault(_GIVEN, {})[variable] = given


def read_local_settings(option: str = "") -> "Settings":
    """Reads the settings; raises if --server or WHENCE_URL names a server. `option` is the option that makes the command
    local.
    """
    settings = _read_settings()
    if settings.url is not None:
        path = f"{click.get_current_context().command_path} {option}".rstrip()
        raise click.ClickException(
            f"`{path}` works on the local installation only, and --server or WHENCE_URL names a server; leave it out"
        )
    return settings


def _read_settings() -> "Settings":
    import os

    from whence.settings import Settings

    given = click.get_current_context().meta.get(_GIVEN, {})
    return Settings.from_environment({**os.environ, **given}, pool_size=_CONNECTIONS)


def with_api(work: Callable[[Api], Awaitable[T]]) -> T:
    """Runs `work` on the server that --server or WHENCE_URL names, else on an open application."""
    settings = _read_settings()
    if settings.url is None:
        return with_app(partial(_run_locally, work))

    from whence.cli.remote import opened
    from whence.logs import configure

    async def run() -> T:
        assert settings.url is not None
        async with opened(settings.url, settings.api_key) as api:
            return await work(api)

    configure("warning", settings.log_format)
    return _run(run)


async def _run_locally(work: Callable[[Api], Awaitable[T]], app: App) -> T:
    from whence.cli.api import LocalApi, own_error

    try:
        return await work(LocalApi(app))
    except Exception as exc:
        if (own := own_error(exc)) is None:
            raise
        raise own from exc


def with_app(work: Callable[[App], Awaitable[T]], option: str = "") -> T:
    """Runs `work` on an open application. Starts the embedded database unless it is already running.

    SIGTERM acts like Ctrl-C: it cancels `work` and closes the application.
    """
    from whence import links
    from whence.app import App
    from whence.logs import configure

    async def run() -> T:
        links.base.set(settings.link_base)
        async with App.open(settings) as app:
            return await work(app)

    settings = read_local_settings(option)
    configure("warning", settings.log_format)
    return _run(run)


def _run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    import asyncio
    import signal

    async def run() -> T:
        task = asyncio.current_task()
        assert task is not None, "asyncio runs this"
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work()

    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        click.echo("Terminated.", err=True)
        raise click.exceptions.Exit(EXIT_TERMINATED) from None


async def find_project(app: App, project: str) -> "Project":
    """Finds a project by id or name."""
    try:
        ident = UUID(project)
    except ValueError:
        return await app.store.projects.named(project)
    return await app.store.projects.get(ident)


def take_only(
    found: Sequence[T], missing: type[NotFound], *, kind: str, name: str, label: Callable[[T], str]
) -> T:
    """The only item with the name; raises if there is none or several."""
    if not found:
        raise missing(f"There is no {kind} named {printable(name)!r}")
    if len(found) > 1:
        ids = ", ".join(map(label, found))
        raise Conflict(f"Several {kind}s are named {printable(name)!r}; give the id of one: {ids}")
    return found[0]


@asynccontextmanager
async def worker_at_hand(app: App | None) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Yields a function to call repeatedly: it starts a worker in this process if no other is alive.

    Without an `app`, on a remote server, it does nothing.
    """
    from time import monotonic

    next_look: float | None = 0.0

    async def ensure() -> None:
        nonlocal next_look
        if app is None or next_look is None or monotonic() < next_look:
            return
        next_look = monotonic() + _LOOK_FOR_WORKER_EVERY
        if not await app.store.queue.worker_alive():
            next_look = None
            await stack.enter_async_context(app.working())

    async with AsyncExitStack() as stack:
        yield ensure


@contextmanager
def progress(label: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Shows a progress bar on a terminal. Yields a function that takes the progress and the total."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


async def wait_for_jobs(
    app: App | None, label: str, look: Callable[[], Awaitable[tuple[int, int] | None]], *, quiet: bool
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
