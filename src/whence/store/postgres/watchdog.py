"""Stops the server when its parent process dies, however it dies.

A shell in its own session reads from a pipe whose other end only the parent holds. When the parent dies, the kernel closes
that end and the shell sends the server a fast shutdown. (Linux can signal a child when its parent dies, but does so when
the *thread* that started it ends, and macOS cannot.)
"""

import contextlib
import os
import subprocess
import threading
from pathlib import Path

from whence.store.postgres.binaries import ENVIRONMENT

# The first line is the server's pid. The server's own process writes it before it becomes PostgreSQL, so the pid is known
# from the start. A second line means that the server has ended; the shell then ends, too. The shell signals the pid only
# if the process works in the cluster's directory or is named in its pidfile. Repeated interrupts do no harm, and reach a
# server that did not handle signals yet. The shell ignores the signals that a service manager sends to all processes of a
# service, because it must outlive the parent.
_SCRIPT = r"""
trap '' HUP INT TERM
cluster=$1
read -r pid || exit 0
read -r _ && exit 0
ours() {
  [ "/proc/$pid/cwd" -ef "$cluster" ] && return 0
  read -r first <"$cluster/postmaster.pid" && [ "$first" = "$pid" ]
}
second=0
while [ $second -lt 90 ] && kill -0 "$pid"; do
  if ours; then
    if [ $second -lt 60 ]; then kill -INT "$pid"; else kill -QUIT "$pid"; fi
  fi
  second=$((second + 1))
  sleep 1
done
"""
_PATIENCE = 5.0


class Watchdog:
    def __init__(self, cluster: Path) -> None:
        self._ending = threading.Lock()
        reading, self._pipe = os.pipe()  # both are close-on-exec
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "whence-watchdog", str(cluster)],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=ENVIRONMENT,
                start_new_session=True,
            )
        except BaseException:
            self.let_go()
            raise
        finally:
            os.close(reading)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def pipe(self) -> int:
        """The pipe to which the server's process writes its pid."""
        return self._pipe

    def dismiss(self) -> None:
        """End the watchdog after the server was reaped, because its pid may be reused."""
        with self._ending:
            if self._pipe >= 0:
                self._dismiss()

    def _dismiss(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            # Two lines, in case the server ended before it wrote its pid.
            os.write(self._pipe, b"ended\nended\n")
        self.let_go()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def let_go(self) -> None:
        """Close our end of the pipe. A forked child must do this, or it would keep the server alive."""
        pipe, self._pipe = self._pipe, -1
        if pipe >= 0:
            os.close(pipe)
