"""The schema version of tombstones, so that newer schemas rename their types."""

from pathlib import Path

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    statements = Path(__file__).with_name("0009_remembered_types.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(statements)
