"""Alembic migrations in raw SQL. The rest of Whence calls `upgrade` and `status`."""

from whence.store.migrations.run import HEAD, MigrationStatus, status, upgrade

__all__ = ["HEAD", "MigrationStatus", "status", "upgrade"]
