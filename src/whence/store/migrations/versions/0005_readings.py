"""Rejected proposals in the ledger of extraction."""

from pathlib import Path

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(Path(__file__).with_name("0005_readings.sql").read_text(encoding="utf-8"))
