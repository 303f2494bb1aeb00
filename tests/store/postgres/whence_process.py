"""A Whence process for the tests: starts the embedded server, says how that went, ends when its input does.

    python whence_process.py DATA_DIR [--uid UID] [--fork]

It runs as a script, because what is tested is what happens to processes.
"""

import argparse
import contextlib
import json
import os
import time
from pathlib import Path

import psycopg

from whence.errors import PostgresError
from whence.store.postgres import EmbeddedPostgres
from whence.store.postgres.ownership import read_pidfile


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--uid", type=int)
    parser.add_argument("--fork", action="store_true")
    options = parser.parse_args()
    if options.uid is not None:
        become(options.uid)
    try:
        server = EmbeddedPostgres.start(options.data_dir)
    except PostgresError as exc:
        say(error=exc.message)
        return
    child = fork_a_sleeper() if options.fork else None
    found = read_pidfile(options.data_dir / "postgres")
    say(
        owner=server.owner,
        dsn=server.dsn,
        postmaster=found.pid if found else None,
        watchdog=server._server.watchdog.process.pid if server._server else None,
        child=child,
    )
    input()
    server.stop()


def become(uid: int) -> None:
    # What is imported late must be imported now: the new user may not be able to read the interpreter's files.
    with contextlib.suppress(psycopg.OperationalError):
        psycopg.connect("host=/nowhere").close()
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


def fork_a_sleeper() -> int:
    child = os.fork()
    if child == 0:
        time.sleep(120)
        os._exit(0)
    return child


def say(**answer: object) -> None:
    print(json.dumps(answer), flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
