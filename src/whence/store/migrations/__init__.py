"""Migrations: SQL scripts in versions/, run in order. The rest of Whence calls `upgrade` and `status`."""

from whence.store.migrations.run import HEAD, MigrationStatus, status, upgrade

__all__ = ["HEAD", "MigrationStatus", "status", "upgrade"]
