"""Merges of objects, hidden claims, and indexes of the graph."""

from pathlib import Path

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(Path(__file__).with_name("0004_graph.sql").read_text(encoding="utf-8"))
