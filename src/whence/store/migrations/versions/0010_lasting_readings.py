"""Ledger rows outlive the job that wrote them."""

from pathlib import Path

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    statements = Path(__file__).with_name("0010_lasting_readings.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(statements)
