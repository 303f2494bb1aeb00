"""Tombstones, so that an object that comes back keeps its id."""

from pathlib import Path

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(Path(__file__).with_name("0008_remembered.sql").read_text(encoding="utf-8"))
