"""The embedded server: one per data directory, shared by all Whence processes that use it."""

import atexit
import contextlib
import logging
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path

from whence.background import BackgroundWork
from whence.errors import PostgresError
from whence.store.postgres.data_dir import (
    BOOTSTRAP_ROLE,
    DataDirLayout,
    check_cluster,
    clear_unfinished,
    explain,
    initialise,
    make_socket_dir,
    remove_socket_dir,
)
from whence.store.postgres.ownership import (
    DataDirLock,
    Holder,
    disarm_pidfile,
    is_postgres_on,
    running_postmaster,
)
from whence.store.postgres.programs import account_for, binaries, major_version, refuse_anothers
from whence.store.postgres.roles import prepare
from whence.store.postgres.server import Server, StillInUse, answers, conninfo, is_ready

_ATTACH_LIMIT = 600.0  # seconds; the owner may be creating or recovering the cluster
_DEAD_LIMIT = 10.0
_GRACE = 10.0
_PREVIOUS_LIMIT = 120.0
_BACKENDS_LIMIT = 60.0
_TICK = 0.05
_LOOK_SECONDS = 1.0

KEEPING = "the restart of the embedded database"

log = logging.getLogger("whence.postgres")


class EmbeddedPostgres(contextlib.AbstractContextManager["EmbeddedPostgres"]):
    """A running server on a data directory. The process that started it owns it; others attach to it."""

    def __init__(
        self, layout: DataDirLayout, lock: DataDirLock, *, socket_dir: Path, server: Server | None
    ) -> None:
        self.dsn = conninfo(socket_dir)
        self.bootstrap_dsn = conninfo(socket_dir, BOOTSTRAP_ROLE)
        self.owner = server is not None
        self.data_dir = layout.data_dir
        self._layout = layout
        self._lock = lock
        self._server = server
        self._pid = os.getpid()
        self._stopping = threading.Lock()
        self._stopped = False
        if self.owner:
            _owned.add(self)
            atexit.register(self.stop)

    @classmethod
    def start(cls, data_dir: Path, *, bin_dir: Path | None = None) -> "EmbeddedPostgres":
        """Start the server on `data_dir`, or attach to another process's server. Blocks."""
        layout = DataDirLayout(data_dir.absolute())
        programs = binaries(bin_dir)
        version = major_version(programs)
        try:
            refuse_anothers(layout.cluster)
            check_cluster(layout.cluster, version)
            made_data_dir = layout.make_data_dir()
            lock = DataDirLock(layout.lock)
            try:
                return cls._attach(layout, lock) or cls._own(
                    layout, lock, programs, version=version, made_data_dir=made_data_dir
                )
            except BaseException:
                lock.close()
                raise
        except OSError as exc:
            raise explain(exc, layout.data_dir) from exc

    @classmethod
    def _attach(cls, layout: DataDirLayout, lock: DataDirLock) -> "EmbeddedPostgres | None":
        """Wait for the owner's server and attach to it. If there is no owner, take the lock and return None."""
        start = seen_alive = time.monotonic()
        while not lock.acquire():
            holder = lock.holder()
            if holder is not None and holder.postmaster is not None:
                ready = is_ready(layout.cluster, holder.postmaster)
                if ready and answers(conninfo(holder.socket_dir)):
                    return cls(layout, lock, socket_dir=Path(holder.socket_dir), server=None)
                if is_postgres_on(holder.postmaster, layout.cluster):
                    seen_alive = time.monotonic()
            else:
                seen_alive = time.monotonic()
            owner = f"the Whence process {holder.owner}" if holder else "another Whence process"
            held = f"{layout.data_dir} is held by {owner}"
            if _measure_since(seen_alive) > _DEAD_LIMIT:
                raise PostgresError(f"{held}, but its database has ended. Stop that process and start again.")
            if _measure_since(start) > _ATTACH_LIMIT:
                slow = f"its database has not become ready in {_ATTACH_LIMIT:.0f} seconds"
                raise PostgresError(f"{held}, and {slow}. {layout.log} may say why.")
            time.sleep(_TICK)
        return None

    @classmethod
    def _own(
        cls, layout: DataDirLayout, lock: DataDirLock, programs: Path, *, version: int, made_data_dir: bool
    ) -> "EmbeddedPostgres":
        check_cluster(layout.cluster, version)  # again: the previous owner may have created it meanwhile
        _await_previous(layout, lock.holder())
        socket_dir = layout.socket_dir
        lock.record(Holder(owner=os.getpid(), postmaster=None, socket_dir=str(socket_dir)))
        account = account_for(layout.cluster, programs, made_data_dir=made_data_dir)
        account.give(layout.lock)
        clear_unfinished(layout.cluster)
        if not layout.cluster.exists():
            initialise(layout.cluster, programs, account, version=version)
        disarm_pidfile(layout.cluster)
        make_socket_dir(socket_dir, account)
        launch = partial(Server, layout, programs, account, version=version, socket_dir=socket_dir)
        server = _serve(launch, lock, layout, socket_dir)
        return cls(layout, lock, socket_dir=socket_dir, server=server)

    def stop(self) -> None:
        """Stop the server if this process owns it. May be called again."""
        if os.getpid() != self._pid:  # a forked copy of the owner
            return
        with self._stopping:
            if self._stopped:
                return
            self._stopped = True
            if self._server is not None:
                self._server.stop()
                remove_socket_dir(self._layout)
                with contextlib.suppress(OSError):
                    self._lock.clear()
                _owned.discard(self)
                atexit.unregister(self.stop)
            self._lock.close()

    def is_running(self) -> bool:
        """Whether the server runs: this process's own, or the one that it is attached to."""
        if self._stopped:
            return False
        if self._server is not None:
            return self._server.alive()
        return running_postmaster(self._layout.cluster) is not None

    def _forget(self) -> None:
        # In a forked child: the inherited descriptors would keep the lock and the server alive after the owner.
        self._lock.close()
        if self._server is not None:
            self._server.watchdog.let_go()

    def __exit__(self, *_: object) -> None:
        self.stop()


_owned: "weakref.WeakSet[EmbeddedPostgres]" = weakref.WeakSet()


def _forget_owned() -> None:
    for server in list(_owned):
        server._forget()  # noqa: SLF001 - the same module


os.register_at_fork(after_in_child=_forget_owned)


def _await_previous(layout: DataDirLayout, holder: Holder | None) -> None:
    """Wait until the watchdog of a dead owner has stopped its server."""
    start, interrupted = time.monotonic(), False
    while (pid := running_postmaster(layout.cluster)) is not None:
        ours = holder is not None and holder.postmaster == pid
        if _measure_since(start) > (_PREVIOUS_LIMIT if ours else _GRACE):
            raise PostgresError(
                f"Another PostgreSQL (pid {pid}) runs on {layout.cluster} and does not end. Stop it and start "
                "again."
            )
        if ours and not interrupted and _measure_since(start) > _GRACE:  # the watchdog was killed, too
            os.kill(pid, signal.SIGINT)
            interrupted = True
        time.sleep(_TICK)


def _serve(
    launch: Callable[[], Server], lock: DataDirLock, layout: DataDirLayout, socket_dir: Path
) -> Server:
    """Launch the server, and retry while backends of a killed server are still ending."""
    start = time.monotonic()
    while True:
        server = launch()
        try:
            lock.record(Holder(owner=os.getpid(), postmaster=server.process.pid, socket_dir=str(socket_dir)))
            server.wait_until_ready()
            prepare(conninfo(socket_dir, BOOTSTRAP_ROLE))
        except StillInUse as exc:
            if _measure_since(start) > _BACKENDS_LIMIT:
                raise PostgresError(
                    f"Processes of a PostgreSQL that was killed still work on {layout.cluster}. End them and "
                    f"start again. ({exc})"
                ) from exc
            time.sleep(10 * _TICK)
        except BaseException:
            server.stop()
            raise
        else:
            return server


def _measure_since(moment: float) -> float:
    return time.monotonic() - moment


class KeptPostgres:
    """Runs the server for a long-lived process and restarts it after an unexpected exit.

    A server of another process ends with that process.
    """

    def __init__(
        self, data_dir: Path, *, bin_dir: Path | None = None, background: BackgroundWork | None = None
    ) -> None:
        self._data_dir, self._bin_dir = data_dir, bin_dir
        self._background = background or BackgroundWork()
        self._server = EmbeddedPostgres.start(data_dir, bin_dir=bin_dir)
        self.dsn = self._server.dsn
        self._ending = threading.Event()
        self._watch = threading.Thread(target=self._keep, name="whence postgres", daemon=True)
        if self._server.owner:
            self._watch.start()

    def stop(self) -> None:
        self._ending.set()
        if self._watch.is_alive():
            self._watch.join()
        self._server.stop()

    def _keep(self) -> None:
        while not self._ending.wait(self._background.pause(KEEPING, every=_LOOK_SECONDS)):
            with self._background.attempt(KEEPING):
                self._start_if_ended()

    def _start_if_ended(self) -> None:
        if self._server.is_running():
            return
        log.error("The embedded database exited unexpectedly; restarting it")
        self._server.stop()
        self._server = EmbeddedPostgres.start(self._data_dir, bin_dir=self._bin_dir)
