"""Alembic migrations in raw SQL. `upgrade` and `status` are what the rest of Whence calls."""

from whence.store.migrations.run import HEAD, MigrationStatus, status, upgrade

__all__ = ["HEAD", "MigrationStatus", "status", "upgrade"]
