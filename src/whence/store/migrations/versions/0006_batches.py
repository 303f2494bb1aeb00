"""Staged vectors in batches, many per row."""

from pathlib import Path

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(Path(__file__).with_name("0006_batches.sql").read_text(encoding="utf-8"))
