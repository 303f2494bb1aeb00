"""The initial schema, and the queue's tables."""

from pathlib import Path

from alembic import op
from procrastinate.schema import SchemaManager

revision = "0001"
down_revision = None


def upgrade() -> None:
    connection = op.get_bind()
    connection.exec_driver_sql(Path(__file__).with_name("0001_initial.sql").read_text(encoding="utf-8"))
    connection.exec_driver_sql("CREATE SCHEMA queue")
    connection.exec_driver_sql("SET LOCAL search_path TO queue, public")
    connection.exec_driver_sql(
        SchemaManager.get_schema().replace("%", "%%")
    )  # the driver would read % as a parameter
