"""`whence reembed`: moves a project to the embedding model of the settings."""

from typing import TYPE_CHECKING, Any

import click

from whence.cli.output import counted, json_option, print_json, with_app
from whence.errors import WhenceError

if TYPE_CHECKING:
    from uuid import UUID

    from whence.app import App

_PAUSE = 0.3
_STANDSTILL = 15.0


@click.command()
@click.option("--project", default="default", show_default=True, help="A project's name or id.")
@click.option("--no-wait", is_flag=True, help="Leave it to a worker that runs already.")
@json_option
def reembed(*, project: str, no_wait: bool, as_json: bool) -> None:
    """Embed the chunks of a project anew, by the model that the settings name.

    The project is searched and written where it is until every chunk has its new vector; then it switches at once. What
    was done stays done: a move that was interrupted goes on where it was.
    """

    async def work(app: "App") -> dict[str, Any]:
        from whence.cli.projects import find
        from whence.ingest.reembed import begin_move

        found = await find(app, project)
        target = await begin_move(app.store, app.embedders, found.id)
        if target is not None and not no_wait:
            await _wait(app, found.id, quiet=as_json)
        current, following = await app.store.vectors.spaces(found.id)
        space = following or current
        done, total = await app.store.vectors.filled(found.id, space.id) if space else (0, 0)
        return {
            "project": found.name,
            "model": space.model if space else None,
            "moved": following is None,
            "chunks": total,
            "embedded": done,
        }

    report = with_app(work, connections=10)
    if as_json:
        print_json(report)
    elif report["moved"]:
        chunks = counted(report["chunks"], "chunk")
        click.echo(f"Project {report['project']} is in {report['model']}: {chunks}.")
    else:
        click.echo(
            f"Project {report['project']} is on its way to {report['model']}: "
            f"{report['embedded']} of {counted(report['chunks'], 'chunk')}."
        )


async def _wait(app: "App", project_id: "UUID", *, quiet: bool) -> None:
    import asyncio
    import sys
    from time import monotonic

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from whence.cli.worker_fallback import helping
    from whence.ingest.reembed import REEMBED, reembed_lock

    columns = (TextColumn("Embedding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=quiet or not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=None)
        async with helping(app) as help_:
            last, since, warned = -1, monotonic(), False
            while True:
                await help_.ensure()
                going = await app.store.queue.waits(REEMBED, lock=reembed_lock(project_id))
                _, following = await app.store.vectors.spaces(project_id)
                if following is None:
                    return
                if not going:
                    raise WhenceError(
                        "The move ended before its time; the worker's log says why. The project stays where it was. "
                        "When the reason is gone, run the command again: what was embedded is kept."
                    )
                done, total = await app.store.vectors.filled(project_id, following.id)
                bar.update(task, completed=done, total=total)
                if done != last:
                    last, since = done, monotonic()
                elif monotonic() - since > _STANDSTILL and not warned:
                    warned = True
                    click.echo(
                        "Nothing is being embedded just now. The log of the worker says why.", err=True
                    )
                await asyncio.sleep(_PAUSE)
