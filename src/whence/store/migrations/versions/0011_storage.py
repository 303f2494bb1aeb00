"""The id of this database's storage, and the inventory of its originals."""

from pathlib import Path

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(Path(__file__).with_name("0011_storage.sql").read_text(encoding="utf-8"))
