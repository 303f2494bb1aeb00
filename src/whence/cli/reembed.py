"""`whence reembed`: moves a project to the embedding model of the settings."""

from time import monotonic
from typing import TYPE_CHECKING

import click

from whence.cli import options
from whence.cli.command import App, find_project, on_app, wait_for_jobs
from whence.cli.output import counted, print_result, wants_json
from whence.errors import WhenceError

if TYPE_CHECKING:
    from uuid import UUID


_STANDSTILL = 15.0


@click.command()
@options.project
@options.no_wait
@options.json
@on_app
async def reembed(app: App, *, project: str, no_wait: bool) -> None:
    """Embed the chunks of a project again, by the embedding model of the settings.

    Searches use the old vectors until every chunk has a new one; then the project switches at once. An interrupted
    move continues where it stopped.
    """
    from whence.ingest.reembed import begin_move

    found = await find_project(app, project)
    target = await begin_move(app.store, app.embedders, found.id)
    if target is not None and not no_wait:
        await wait_for_jobs(app, "Embedding", _Move(app, found.id).look, quiet=wants_json())
    current, following = await app.store.vectors.spaces(found.id)
    space = following or current
    done, total = await app.store.vectors.filled(found.id, space.id) if space else (0, 0)
    model, is_moved = space.model if space else None, following is None
    where, some = ("in", "") if is_moved else ("on its way to", f"{done} of ")
    print_result(
        {"project": found.name, "model": model, "moved": is_moved, "chunks": total, "embedded": done},
        f"Project {found.name} is {where} {model}: {some}{counted(total, 'chunk')}.",
    )


class _Move:
    def __init__(self, app: App, project_id: "UUID") -> None:
        self._app = app
        self._project_id = project_id
        self._last, self._since = -1, monotonic()
        self._is_warned = False

    async def look(self) -> tuple[int, int] | None:
        from whence.ingest.reembed import REEMBED, reembed_lock

        going = await self._app.store.queue.waits(REEMBED, lock=reembed_lock(self._project_id))
        _, following = await self._app.store.vectors.spaces(self._project_id)
        if following is None:
            return None
        if not going:
            raise WhenceError(
                "The move ended before its time; the worker's log says why. The project stays where it was. "
                "When the reason is gone, run the command again: what was embedded is kept."
            )
        done, total = await self._app.store.vectors.filled(self._project_id, following.id)
        if done != self._last:
            self._last, self._since = done, monotonic()
        elif monotonic() - self._since > _STANDSTILL and not self._is_warned:
            self._is_warned = True
            click.echo("Nothing is being embedded just now. The log of the worker says why.", err=True)
        return done, total
