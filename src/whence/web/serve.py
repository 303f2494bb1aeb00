"""Runs the server: one process, or several on one port."""

import asyncio
import ctypes
import gc
import logging
import multiprocessing
import os
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

import uvicorn
import uvloop
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from whence import __version__, logs
from whence.app import App, database
from whence.config_file import unused_config
from whence.errors import SetupError
from whence.providers import recipients
from whence.settings import Settings, env_name, unknown
from whence.web.middleware import ASGIApp
from whence.web.protocol import ConnectionLimits, LimitedProtocol
from whence.web.server import create_app, entrance

log = logging.getLogger("whence")

_DRAIN_SECONDS = 30
_START_SECONDS = 60
"""Seconds after which a process that does not answer its parent is replaced. On a busy machine it takes many seconds to start."""
_FILES = 65_536

WATCH, RELEASE = "the watch on the parent process", "giving memory back"
"""Names of these background tasks."""
_RELEASE_SECONDS = 60


def run(settings: Settings, *, workers: int = 1, insecure: bool = False) -> None:
    """Runs until SIGINT or SIGTERM, then answers open requests, finishes running tasks and stops the database."""
    logs.configure(settings.log_level, settings.log_format, batched=True)
    for name, says in unknown().items():
        log.warning("%s %s", name, says)
    if here := unused_config():
        log.warning("%s is ignored. To use it, pass it with --config", here)
    if not settings.loopback and settings.auth == "off" and not insecure:
        raise SetupError(
            f"{settings.host} can be reached from other machines, and WHENCE_AUTH is off. "
            "Unset it and create an API key, or start with --insecure."
        )
    _allow_files()
    listener = _listen(settings.host, settings.port)
    settings = replace(settings, port=listener.getsockname()[1])
    with listener:
        if workers == 1:
            uvloop.run(_serve(settings, listener))
        else:
            _serve_many(settings, listener, workers)


async def _serve(settings: Settings, listener: socket.socket) -> None:
    async with _open_ready(settings) as app:
        web = create_app(settings, lambda: nullcontext(app))
        server = _Server(server_config(entrance(web), settings))

        def stop(number: int) -> None:
            server.handle_exit(number, None)
            _stop(web, app, hurry=number == signal.SIGINT)

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop, number)
        await server.serve(sockets=[listener])
        log.info("Stopping")


def _serve_many(settings: Settings, listener: socket.socket, workers: int) -> None:
    """Runs the database and supervises the worker processes. Each of those opens its own application."""
    for name in ("host", "port", "auth"):
        os.environ[env_name(name)] = str(getattr(settings, name))
    config = server_config("whence.web.serve:one_of_many", settings, factory=True)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        held = database(settings)
        runner.run(held.__aenter__())
        try:
            runner.run(_check(settings))
            _Workers(config, share_port(listener, workers)).run()
        finally:
            runner.run(held.__aexit__(None, None, None))


class _Workers(Multiprocess):
    """Runs one process per socket. uvicorn's class gives every socket to all processes, so one of them may take all
    connections.
    """

    def __init__(self, config: uvicorn.Config, listeners: Sequence[socket.socket]) -> None:
        super().__init__(config, [])
        self._listeners = listeners

    def init_processes(self) -> None:
        self._call_for_each(super().init_processes)

    def keep_subprocess_alive(self) -> None:
        self._call_for_each(super().keep_subprocess_alive)

    def restart_all(self) -> None:
        self._call_for_each(super().restart_all)

    def _call_for_each(self, act: Callable[[], None]) -> None:
        """Calls a method of uvicorn for each socket and its process in turn."""
        last = len(self._listeners) - 1
        groups = [self.processes[at : at + 1] for at in range(last)] + [self.processes[last:]]
        for listener, group in zip(self._listeners, groups, strict=True):
            self.sockets, self.processes = [listener], group
            act()
        self.processes = [process for group in groups for process in group]


def one_of_many() -> ASGIApp:
    """Makes the application in each process that `_serve_many` starts."""
    settings = Settings.from_environment()
    logs.configure(settings.log_level, settings.log_format, batched=True)
    web = create_app(settings, lambda: _open_with_parent(settings, web))
    return entrance(web)


@asynccontextmanager
async def _open_with_parent(settings: Settings, web: FastAPI) -> AsyncIterator[App]:
    async with App.open(settings) as app, _tune_memory(app):
        _call_on_signals(lambda number: _stop(web, app, hurry=number == signal.SIGINT))
        parent, stopping = multiprocessing.parent_process(), asyncio.Event()
        watch = asyncio.create_task(
            app.background.repeat(WATCH, partial(_stop_with, parent, stopping), every=1, stopping=stopping)
        )
        try:
            yield app
        finally:
            watch.cancel()


def _call_on_signals(stop: Callable[[int], None]) -> None:
    """Calls `stop` in the event loop on a signal, because uvicorn reports signals only after all requests have ended."""
    loop = asyncio.get_running_loop()

    def notice(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stop, number)
        uvicorns[number](number, frame)

    uvicorns: dict[int, Any] = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        uvicorns[number] = signal.signal(number, notice)


def _stop(web: FastAPI, app: App, *, hurry: bool) -> None:
    """Logs the requests that the server waits for. In a hurry, model calls of requests and extractions are cancelled."""
    app.background.hurries |= hurry
    web.state.shutdown.begin(hurry=hurry)


async def _stop_with(parent: BaseProcess | None, stopping: asyncio.Event) -> None:
    """Stops this process when its parent has ended, because the database stops with the parent and the port must be freed."""
    if parent is None or parent.is_alive():
        return
    log.error("The parent process has ended")
    os.kill(os.getpid(), signal.SIGTERM)
    stopping.set()


@asynccontextmanager
async def _open_ready(settings: Settings) -> AsyncIterator[App]:
    """Opens the application. Checks that the storage belongs to the database and that a key exists if keys are required."""
    async with App.open(settings) as app:
        if settings.auth_required and not await app.store.keys.any_active():
            raise SetupError(
                "This server requires API keys, and there is none yet. Create one with `whence keys create`, "
                "listen on 127.0.0.1, or start with --insecure."
            )
        await app.storage.check()
        where = (
            "PostgreSQL at WHENCE_DATABASE_URL" if settings.database_url else f"data in {settings.data_dir}"
        )
        log.info("Whence %s serves %s (%s)", __version__, url(settings), where)
        for line in recipients(settings, lightrag=await app.store.lightrag.projects()):
            log.info("%s", line)
        if settings.auth == "off" and not settings.loopback:
            log.warning("Anyone who can reach %s can read and change everything: --insecure", settings.host)
        async with _tune_memory(app):
            yield app


def _allow_files() -> None:
    """Raises the limit of open files, because the default is low and every client needs one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if most == resource.RLIM_INFINITY else min(most, _FILES)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


@asynccontextmanager
async def _tune_memory(app: App) -> AsyncIterator[None]:
    """Runs the garbage collector less often: start-up objects stay, and requests leave hardly any cycles.

    Returns freed memory to the system: glibc keeps free pages between used blocks, 70 of 450 MB after two minutes of mixed load.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)
    work = partial(asyncio.to_thread, release_memory)
    task = asyncio.create_task(
        app.background.repeat(RELEASE, work, every=_RELEASE_SECONDS, stopping=asyncio.Event())
    )
    try:
        yield
    finally:
        task.cancel()


def release_memory() -> None:
    """Returns freed memory to the system. Only glibc has this function."""
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


async def _check(settings: Settings) -> None:
    async with _open_ready(settings):
        pass


def url(settings: Settings) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


class _Server(uvicorn.Server):
    """Keeps uvicorn from re-raising the signal, because the database must still be stopped after the server."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def server_config(app: Any, settings: Settings, *, factory: bool = False) -> uvicorn.Config:
    protocol: Any = partial(LimitedProtocol, limits=ConnectionLimits.of(settings))
    return uvicorn.Config(
        app,
        factory=factory,
        workers=1,  # of each socket
        loop="uvloop",
        http=protocol,
        ws="none",
        access_log=False,  # the middleware logs every request with its id
        log_config=None,
        server_header=False,
        proxy_headers=False,  # no route uses the client's address
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
        timeout_worker_healthcheck=_START_SECONDS,
    )


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, proto)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()  # immediately, because two sockets can bind the same port until one listens
    except (OSError, UnicodeError) as exc:  # UnicodeError: an impossible host name
        reason = (getattr(exc, "strerror", None) or str(exc)).lower()
        raise SetupError(
            f"Cannot listen on {host}, port {port}: {reason}. Choose another with --port.",
            details={"host": host, "port": port},
        ) from exc
    listener.set_inheritable(True)
    return listener


def share_port(listener: socket.socket, count: int) -> list[socket.socket]:
    """Sockets on one port between which Linux spreads connections evenly. Elsewhere the processes share one."""
    if sys.platform != "linux":
        return [listener] * count
    # Only after it listens, so that another server cannot bind the port.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listeners = [listener]
    for _ in range(count - 1):
        other = socket.socket(listener.family, listener.type, listener.proto)
        # The address is in use by connections that were made before `listener` shared its port.
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(listener.getsockname())
        other.listen()
        other.set_inheritable(True)
        listeners.append(other)
    return listeners
