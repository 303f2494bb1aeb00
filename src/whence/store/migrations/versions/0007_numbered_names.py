"""An index of object names without their trailing number."""

from pathlib import Path

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(
        Path(__file__).with_name("0007_numbered_names.sql").read_text(encoding="utf-8")
    )
