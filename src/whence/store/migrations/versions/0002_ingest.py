"""Staging tables of ingest, and columns for updates in place."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(Path(__file__).with_name("0002_ingest.sql").read_text(encoding="utf-8"))
