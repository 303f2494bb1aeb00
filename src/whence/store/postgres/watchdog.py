"""The server dies with its parent, however the parent dies.

A shell, in a session of its own, reads from a pipe whose other end only the parent holds. When the parent is
gone, the kernel closes that end and the shell asks the server for a fast shutdown. (Linux could signal the
server by itself, but does so when the *thread* that started it ends, and macOS cannot.)
"""

import contextlib
import os
import subprocess
import threading
from pathlib import Path

from whence.store.postgres.binaries import ENVIRONMENT

# The first line is the server's pid, written by the server's own process before it becomes PostgreSQL, so that
# there is no moment in which it is unknown. A second line means: the server has ended, so end too. The pid is
# signalled only if it works in the cluster's directory or is the one in the cluster's pidfile. Interrupting
# again and again does no harm, and catches a server that was not yet listening to signals. The shell itself
# ignores what a service manager sends to every process of a service: it ends when the parent has ended.
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
        reading, self._pipe = os.pipe()  # close-on-exec, both
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
        """Where the server's process writes its pid."""
        return self._pipe

    def dismiss(self) -> None:
        """The server has ended and been waited for: its pid may soon be another process's."""
        with self._ending:
            if self._pipe >= 0:
                self._dismiss()

    def _dismiss(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            # Two lines, because the server may have ended before it wrote its pid.
            os.write(self._pipe, b"ended\nended\n")
        self.let_go()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def let_go(self) -> None:
        """Close our end of the pipe. A forked child does this, or it would keep the server alive."""
        pipe, self._pipe = self._pipe, -1
        if pipe >= 0:
            os.close(pipe)
