"""The embedded server for a process that lives long: when it ends untold, it is started again."""

import logging
import threading
from pathlib import Path

from whence.store.postgres.supervisor import EmbeddedPostgres

log = logging.getLogger("whence.postgres")

_LOOK_SECONDS = 1.0


class KeptPostgres:
    """Only the owner keeps it: a process that is attached to another's server sees it go with that process."""

    def __init__(self, data_dir: Path, *, bin_dir: Path | None = None) -> None:
        self._data_dir, self._bin_dir = data_dir, bin_dir
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
        while not self._ending.wait(_LOOK_SECONDS):
            if self._server.owner_alive():
                continue
            log.error("The embedded database ended by itself; it is started again")
            self._server.stop()
            try:
                self._server = EmbeddedPostgres.start(self._data_dir, bin_dir=self._bin_dir)
            except Exception:  # whatever it was, the next look tries again
                log.exception("The embedded database cannot be started again")
