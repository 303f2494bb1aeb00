"""`whence reembed`: moves a project to the embedding model of the settings."""

from typing import TYPE_CHECKING

import click

from whence.cli import options
from whence.cli.command import App, find_project, on_app, wait_for_jobs
from whence.cli.output import counted, print_result, wants_json
from whence.errors import WhenceError

if TYPE_CHECKING:
    from uuid import UUID


@click.command()
@options.project
@options.no_wait
@options.json
@on_app
async def reembed(app: App, *, project: str, no_wait: bool) -> None:
    """Embed the chunks of a project again, by the embedding model of the settings.

    Searches use the old vectors until every chunk has a new one; then the project switches at once. An interrupted
    move continues where it stopped. A project that is at this model already gets the vectors that its chunks lack.
    """
    from whence.ingest.reembed import begin_move, fill

    found = await find_project(app, project)
    target = await begin_move(app.store, app.embedders, found.id)
    filled = await fill(app.store, app.embedders, found.id) if target is None else 0
    if target is not None and not no_wait:
        await wait_for_jobs(app, "Embedding", lambda: _look(app, found.id), quiet=wants_json())
    current, following = await app.store.vectors.spaces(found.id)
    space = following or current
    done, total = await app.store.vectors.filled(found.id, space.id) if space else (0, 0)
    model, is_moved = space.model if space else None, following is None
    where, some = ("in", "") if is_moved else ("on its way to", f"{done} of ")
    repaired = f" Embedded {counted(filled, 'chunk')} that had no vector." if filled else ""
    print_result(
        {
            "project": found.name,
            "model": model,
            "moved": is_moved,
            "chunks": total,
            "embedded": done,
            "filled": filled,
        },
        f"Project {found.name} is {where} {model}: {some}{counted(total, 'chunk')}.{repaired}",
    )


async def _look(app: App, project_id: "UUID") -> tuple[int, int] | None:
    from whence.ingest.reembed import REEMBED, reembed_lock

    is_going = await app.store.queue.waits(REEMBED, lock=reembed_lock(project_id))
    _, following = await app.store.vectors.spaces(project_id)
    if following is None:
        return None
    if not is_going:
        raise WhenceError(
            "The move did not finish; the worker's log has the reason. The project keeps its old model. "
            "Run the command again after removing the cause: finished embeddings are kept."
        )
    return await app.store.vectors.filled(project_id, following.id)
