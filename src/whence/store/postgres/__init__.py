"""The embedded PostgreSQL server: `postgres` as a child process on a Unix socket in the data directory."""

from whence.store.postgres.programs import binaries
from whence.store.postgres.supervisor import EmbeddedPostgres, KeptPostgres

__all__ = ["EmbeddedPostgres", "KeptPostgres", "binaries"]
