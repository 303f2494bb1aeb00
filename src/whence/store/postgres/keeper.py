"""Runs the embedded server for a long-lived process and restarts it after an unexpected exit."""

import logging
import threading
from pathlib import Path

from whence.background import Background
from whence.store.postgres.supervisor import EmbeddedPostgres

log = logging.getLogger("whence.postgres")

_LOOK_SECONDS = 1.0

KEEPING = "the restart of the embedded database"
"""Name of this work in `Background`."""


class KeptPostgres:
    """Restarts the server if this process owns it. A server of another process ends with that process."""

    def __init__(
        self, data_dir: Path, *, bin_dir: Path | None = None, background: Background | None = None
    ) -> None:
        self._data_dir, self._bin_dir = data_dir, bin_dir
        self._background = background or Background()
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
        if self._server.owner_alive():
            return
        log.error("The embedded database ended by itself; it is started again")
        self._server.stop()
        self._server = EmbeddedPostgres.start(self._data_dir, bin_dir=self._bin_dir)
