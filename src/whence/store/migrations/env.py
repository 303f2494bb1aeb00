"""Alembic's entry point. run.py passes an open connection; all revisions run in one transaction."""

from alembic import context
from sqlalchemy import Connection, text

connection: Connection = context.config.attributes["connection"]
connection.execute(text("CREATE SCHEMA IF NOT EXISTS kb"))
context.configure(connection=connection, version_table_schema="kb", transaction_per_migration=False)
with context.begin_transaction():
    context.run_migrations()
