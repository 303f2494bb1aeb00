"""`whence audit`: lists the writes over HTTP, and keys that were created or revoked."""

import click

from whence.cli import options
from whence.cli.command import Api, on_api
from whence.cli.output import print_rows


@click.command()
@click.option("--action", help="Only this operation, such as deleteDocument.")
@options.limit
@options.json
@on_api
async def audit(api: Api, *, action: str | None, limit: int) -> None:
    """List the writes, newest first."""
    from whence.api.audit import AuditModel

    found, total = await api.page("/audit", AuditModel, limit=limit, action=action)
    rows = [
        (f"{one.at:%Y-%m-%d %H:%M:%S}", one.key_name or one.key_id or "-", one.action, one.path, one.status)
        for one in found
    ]
    print_rows(found, ("TIME (UTC)", "KEY", "ACTION", "PATH", "STATUS"), rows, total=total)
