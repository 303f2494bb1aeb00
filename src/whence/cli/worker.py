"""`whence worker`: another worker process, on this machine or another."""

import click


@click.command()
@click.option(
    "--concurrency",
    type=click.IntRange(1, 64),
    help="How many documents at the same time.  [WHENCE_WORKER_CONCURRENCY, 8]",
)
def worker(concurrency: int | None) -> None:
    """Work off the queue until stopped. `whence serve` has a worker of its own; this adds another.

    On SIGTERM or Ctrl-C the documents in hand come to their next step and go back to the queue; whoever takes them up
    goes on from there.
    """
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
