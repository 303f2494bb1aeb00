"""`whence audit`: lists the writes over HTTP, and keys that were created or revoked."""

import click

from whence.cli import options
from whence.cli.command import App, Remote, is_remote, on_either
from whence.cli.output import print_rows


@click.command()
@click.option("--action", help="Only this operation, such as deleteDocument.")
@options.limit
@options.json
@on_either
async def audit(base: App | Remote, *, action: str | None, limit: int) -> None:
    """List who wrote what, the newest first."""
    from whence.api.audit import AuditModel

    if is_remote(base):
        found, total = await base.page("/audit", AuditModel, limit=limit, action=action)
    else:
        entries, total = await base.store.audit.page(action=action, limit=limit)
        found = [AuditModel.of(one) for one in entries]
    rows = [
        (f"{one.at:%Y-%m-%d %H:%M:%S}", one.key_name or one.key_id or "-", one.action, one.path, one.status)
        for one in found
    ]
    print_rows(found, ("TIME (UTC)", "KEY", "ACTION", "PATH", "STATUS"), rows, total=total)
