"""`whence serve`: the HTTP server, with a worker beside it."""

import click


@click.command()
@click.option("--host", help="The address to listen on.  [WHENCE_HOST, 127.0.0.1]")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="The port; 0 takes a free one.  [WHENCE_PORT, 8420]"
)
@click.option(
    "--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="How many server processes."
)
@click.option("--insecure", is_flag=True, help="Listen on other addresses than loopback without API keys.")
def serve(host: str | None, port: int | None, workers: int, *, insecure: bool) -> None:
    """Start the server, and the embedded database unless another is configured.

    On a loopback address no API key is needed. On any other address requests need one: create the first with
    `whence keys create`.
    """
    from whence.settings import Settings
    from whence.web.serve import run

    settings = Settings.from_environment(host=host, port=port, auth="off" if insecure else None)
    run(settings, workers=workers, insecure=insecure)
