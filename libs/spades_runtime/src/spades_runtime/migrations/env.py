"""Alembic's environment, one for every service: `spades_runtime.migrate` brings the connection."""

from alembic import context

_attributes = context.config.attributes

context.configure(
    connection=_attributes["connection"],
    version_table="alembic_version",
    version_table_schema=_attributes["schema"],
)
with context.begin_transaction():
    context.run_migrations()
