"""`whence mcp`: the tools for an assistant, over standard input and output."""

import click

from whence.cli.command import App, on_app


@click.command()
@click.option("--allow-writes", is_flag=True, help="Let the assistant add documents.")
@on_app
async def mcp(app: App, *, allow_writes: bool) -> None:
    """Serve the knowledge base to an assistant that started this command (Model Context Protocol).

    Needs the extra `whence-kb[mcp]`. `whence serve` answers the same at /mcp.
    """
    try:
        from whence.web.assistants.tools import make_server
    except ModuleNotFoundError as exc:
        raise click.ClickException("This needs the extra: pip install 'whence-kb[mcp]'") from exc
    from whence.store.keys import EVERYONE
    from whence.web.access import Access
    from whence.web.metering import Meter

    access = Access(app, EVERYONE, Meter(app))
    async with app.working():
        await make_server(lambda _: access, allow_writes=allow_writes).run_stdio_async()
