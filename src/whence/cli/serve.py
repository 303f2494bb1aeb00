"""`whence serve`, the HTTP server with a worker, and `whence worker`, another worker."""

import os

import click


def limit_numpy() -> None:
    """Limits numpy to one thread, because more would compete with other requests and processes. numpy reads this when it is
    imported.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@click.command()
@click.option("--host", help="The address to listen on.  [WHENCE_HOST, 127.0.0.1]")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="The port; 0 takes a free one.  [WHENCE_PORT, 8420]"
)
@click.option(
    "--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Number of server processes."
)
@click.option("--insecure", is_flag=True, help="Listen on other addresses than loopback without API keys.")
def serve(host: str | None, port: int | None, workers: int, *, insecure: bool) -> None:
    """Start the server, and the embedded database unless another is configured.

    A loopback address needs no API key. On any other address requests need one: create the first with
    `whence keys create`.
    """
    limit_numpy()
    from whence.settings import Settings
    from whence.web.serve import run

    settings = Settings.from_environment(host=host, port=port, auth="off" if insecure else None)
    run(settings, workers=workers, insecure=insecure)


@click.command()
@click.option(
    "--concurrency",
    type=click.IntRange(1, 64),
    help="Number of documents processed at the same time.  [WHENCE_WORKER_CONCURRENCY, 8]",
)
def worker(concurrency: int | None) -> None:
    """Run jobs until stopped, in addition to the worker inside `whence serve`.

    On SIGTERM or Ctrl-C unfinished documents go back to the queue after their current step; the next worker continues
    from there.
    """
    limit_numpy()
    import asyncio
    import logging
    import signal

    import uvloop

    from whence import logs
    from whence.app import App
    from whence.settings import Settings

    settings = Settings.from_environment(worker_concurrency=concurrency)
    logs.configure(settings.log_level, settings.log_format)
    log = logging.getLogger("whence.worker")

    async def work() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        async with App.open(settings) as app, app.working():
            log.info("Working, %d documents at a time", settings.worker_concurrency)
            await stop.wait()
            log.info("Stopping")

    uvloop.run(work())
