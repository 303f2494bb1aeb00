"""Pairs of objects that may be one, here or on a server elsewhere."""

from typing import TYPE_CHECKING, Literal
from uuid import UUID

from whence.cli.command import App, Remote, find_project, is_remote

if TYPE_CHECKING:
    from whence.api.graph import MergeModel, SuggestionModel


async def page(
    base: App | Remote, project: str, *, object_type: str | None, dismissed: bool, limit: int
) -> "tuple[list[SuggestionModel], int]":
    from whence.api.graph import SuggestionModel

    if is_remote(base):
        of = {"type": object_type, "dismissed": dismissed}
        return await base.page(await _path(base, project), SuggestionModel, limit=limit, **of)
    found, total = await base.store.graph.suggestions.page(
        (await find_project(base, project)).id,
        object_type=object_type,
        dismissed=dismissed,
        limit=limit,
        offset=0,
    )
    return [SuggestionModel.of(one) for one in found], total


async def accept(base: App | Remote, project: str, ident: UUID) -> "MergeModel":
    """Merges the two."""
    from whence.api.graph import MergeModel

    if is_remote(base):
        return await base.send("POST", f"{await _path(base, project)}/{ident}/accept", MergeModel)
    graph, project_id = base.store.graph, (await find_project(base, project)).id
    found = await graph.suggestions.get(project_id, ident)
    merge = await graph.merges.merge(project_id, keep_id=found.keep.id, drop_id=found.drop.id)
    return MergeModel.of(merge)


async def settle(
    base: App | Remote, project: str, ident: UUID, how: Literal["dismiss", "undo"]
) -> "SuggestionModel":
    """Dismisses the two, or takes that back."""
    from whence.api.graph import SuggestionModel

    if is_remote(base):
        return await base.send("POST", f"{await _path(base, project)}/{ident}/{how}", SuggestionModel)
    suggestions, project_id = base.store.graph.suggestions, (await find_project(base, project)).id
    found = await suggestions.get(project_id, ident)
    await (suggestions.dismiss if how == "dismiss" else suggestions.restore)(project_id, found)
    return SuggestionModel.of(found)


async def _path(remote: Remote, project: str) -> str:
    return f"{await remote.project_path(project)}/merge-suggestions"
