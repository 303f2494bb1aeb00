"""`whence answers`: lists, shows and refreshes stored answers."""

from typing import TYPE_CHECKING
from uuid import UUID

import click

from whence.cli import options
from whence.cli.command import Api, on_api
from whence.cli.output import page_suffix, print_rows, print_title, printable, printed_json, shorten

if TYPE_CHECKING:
    from whence.api.conversations import AnswerModel
    from whence.store.answers import FeedbackFilter

_SHOWN = 60
_TEXT_SHOWN = 300
_SIGNS = {"same": " ", "removed": "-", "added": "+"}

_answer = click.argument("answer", type=click.UUID)
_feedback = click.option(
    "--feedback", type=click.Choice(("up", "down", "any")), help="Only answers with this feedback."
)


@click.group()
def answers() -> None:
    """Show stored answers, find stale ones, and ask again.

    Answers are stored by chat with `store` or a conversation, and by `whence ask --store`.
    """


@answers.command("list")
@options.project
@_feedback
@options.limit
@options.json
@on_api
async def list_answers(api: Api, *, project: str, feedback: "FeedbackFilter | None", limit: int) -> None:
    """List stored answers, newest first."""
    await _list(api, project, stale=None, feedback=feedback, limit=limit)


@answers.command()
@options.project
@options.limit
@options.json
@on_api
async def stale(api: Api, *, project: str, limit: int) -> None:
    """List answers that cite a chunk which was changed or deleted, or a claim that was rejected."""
    await _list(api, project, stale=True, feedback=None, limit=limit)


async def _list(
    api: Api, project: str, *, stale: bool | None, feedback: "FeedbackFilter | None", limit: int
) -> None:
    from whence.api.conversations import AnswerModel

    of = {"project_id": await api.project_id(project), "stale": stale, "feedback": feedback}
    shown, total = await api.page("/answers", AnswerModel, limit=limit, **of)
    rows = [
        (
            one.id,
            f"{one.created_at:%Y-%m-%d}",
            _summarise_state(one),
            one.feedback.rating if one.feedback else "",
            shorten(printable(one.question), _SHOWN),
        )
        for one in shown
    ]
    print_rows(shown, ("ID", "DATE", "STATE", "FEEDBACK", "QUESTION"), rows, total=total)


def _summarise_state(answer: "AnswerModel") -> str:
    if answer.refreshed_by is not None:
        return "refreshed"
    return ", ".join(dict.fromkeys(one.reason for one in answer.stale_reasons))


@answers.command("show")
@_answer
@options.json
@on_api
async def show_answer(api: Api, *, answer: UUID) -> None:
    """Show a stored answer, its quotes, and the changes of their documents."""
    from whence.api.conversations import AnswerModel

    found = await api.get(f"/answers/{answer}", AnswerModel)
    if not printed_json(found):
        _print(found)


@answers.command()
@_answer
@options.json
@on_api
async def refresh(api: Api, *, answer: UUID) -> None:
    """Ask the question of ANSWER again and show what changed. The new answer replaces it in its conversation."""
    from whence.api.conversations import RefreshedAnswer

    refreshed = await api.send("POST", f"/answers/{answer}/refresh", RefreshedAnswer)
    if printed_json(refreshed):
        return
    print_title(refreshed.answer.question, refreshed.answer.id)
    for part in refreshed.changes.diff:
        click.echo(f"{_SIGNS[part.op]} {printable(part.text)}")
    if not refreshed.changes.response_changed:
        click.echo("The text did not change.", err=True)


def _print(answer: "AnswerModel") -> None:
    print_title(answer.question, answer.id)
    click.echo(printable(answer.response, keep="\n\t"))
    names = {one.id: one.source for one in answer.sources}
    for one in answer.citations:
        if one.quote is not None:
            name = names.get(str(one.chunk_id), "")
            click.echo(
                f"\n{printable(name)}{page_suffix(one.page)}: “{_flatten(one.quote)}” ({one.support_level})"
            )
    for reason in answer.stale_reasons:
        click.secho(f"\nStale since {reason.at:%Y-%m-%d %H:%M}: {reason.reason}", fg="yellow")
        click.echo(f"- {_flatten(reason.old_text)}")
        click.echo(f"+ {'(gone)' if reason.new_text is None else _flatten(reason.new_text)}")
    if answer.refreshed_by is not None:
        click.secho(f"\nRefreshed by {answer.refreshed_by}", dim=True)
    if answer.url is not None:
        click.secho(f"\n{answer.url}", dim=True)


def _flatten(text: str) -> str:
    return shorten(" ".join(printable(text).split()), _TEXT_SHOWN)
