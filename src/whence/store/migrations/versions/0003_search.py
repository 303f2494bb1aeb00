"""The text index. A task per project indexes the existing chunks."""

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(Path(__file__).with_name("0003_search.sql").read_text(encoding="utf-8"))
