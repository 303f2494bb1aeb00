"""What ingest keeps while it works, and what an update in place needs."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(Path(__file__).with_name("0002_ingest.sql").read_text(encoding="utf-8"))
