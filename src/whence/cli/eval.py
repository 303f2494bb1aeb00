"""`whence eval`: measures search and answers with questions whose answers are known, and drafts such questions."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli import options
from whence.cli.command import EXIT_FAILED, App, find_project, on_app, progress
from whence.cli.output import (
    counted,
    print_notes,
    print_result,
    print_table,
    printable,
    printed_json,
    shorten,
    wants_json,
)

if TYPE_CHECKING:
    from whence.api.evaluation import Comparison, EvalReport, EvalTotals, QuestionMeasures
    from whence.evaluate import Drafter
    from whence.evaluate.files import Questions
    from whence.models import Project
    from whence.search import Mode

_MEASURES = (
    ("recall@{k}", "recall", "{:.1%}"),
    ("hit rate@{k}", "hit_rate", "{:.1%}"),
    ("mean reciprocal rank", "mean_reciprocal_rank", "{:.3f}"),
    ("false empties", "false_empties", "{:,}"),
    ("false finds", "false_finds", "{:,}"),
    ("unanswered", "unanswered", "{:,}"),
    ("false answers", "false_answers", "{:,}"),
    ("failed", "failed", "{:,}"),
    ("answer overlap", "answer_overlap", "{:.1%}"),
    ("answer words found", "answer_recall", "{:.1%}"),
    ("cites the expected", "cites_expected", "{:.1%}"),
    ("citations", "citations", "{:,}"),
    ("citation validity", "citation_validity", "{:.1%}"),
    *((f"support: {level}", level, "{:,}") for level in ("verbatim", "close", "loose", "none", "uncited")),
    ("prompt tokens", "prompt_tokens", "{:,}"),
    ("completion tokens", "completion_tokens", "{:,}"),
    ("price", "price", "{:.6f}"),
    ("search, median", "search_ms", "{:.0f} ms"),
    ("answer, median", "answer_ms", "{:.0f} ms"),
    ("time", "seconds", "{:.1f} s"),
)
"""Label, field and format of each row."""
_QUESTION_SHOWN = 70
_MOST_NOTES = 5
_MOST_QUESTIONS = 10_000


@click.command()
@click.argument(
    "questions",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    is_eager=True,  # `--make` checks it
)
@options.project
@click.option(
    "--k", type=click.IntRange(1, 100), default=5, show_default=True, help="Number of hits to consider."
)
@click.option(
    "--mode",
    type=click.Choice(("hybrid", "vector", "text")),
    default="hybrid",
    show_default=True,
    help="How to search. Answers always use both.",
)
@click.option("--no-answers", is_flag=True, help="Measure search only.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N questions.")
@click.option(
    "--compare",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Show the differences from an earlier run, saved with --json.",
)
@click.option(
    "--make",
    type=click.IntRange(1, 10_000),
    metavar="N",
    callback=lambda context, _option, count: _require_new(context, count),
    help="Draft N questions and write QUESTIONS.",
)
@click.option(
    "--feedback",
    is_flag=True,
    callback=lambda context, _option, wanted: _require_new(context, wanted or None) or False,
    help="Write QUESTIONS from the feedback on stored answers.",
)
@options.json
@on_app
async def eval(  # noqa: A001 - the name of the command
    app: App,
    *,
    questions: Path,
    project: str,
    k: int,
    mode: "Mode",
    no_answers: bool,
    limit: int | None,
    compare: Path | None,
    make: int | None,
    feedback: bool,
) -> None:
    """Measure search and answers with QUESTIONS, a file with one question as JSON per line.

    A line has `question`, the expected `document`, `page` or `text`, and optionally `answer`; or `"answerable": false`.
    `-` reads standard input. The exit code is 1 if a question failed.
    """
    from itertools import islice

    from whence.evaluate import compare as compare_reports
    from whence.evaluate import read_questions, read_report

    if make is not None:
        await _make(app, await find_project(app, project), questions, make)
        return
    if feedback:
        await _write_feedback(app, await find_project(app, project), questions)
        return
    earlier = None if compare is None else read_report(_read(compare), str(compare))
    asked = dict(islice(read_questions(_read(questions), str(questions)).items(), limit))
    found = await find_project(app, project)
    report = await _run_evaluation(app, found, asked, str(questions), mode=mode, k=k, answers=not no_answers)
    if earlier is not None:
        report = report.compared(compare_reports(earlier, report))
    if not printed_json(report):
        _print(report, earlier)
    if report.totals.failed:
        raise click.exceptions.Exit(EXIT_FAILED)


async def _run_evaluation(
    app: App, project: "Project", asked: "Questions", name: str, *, mode: "Mode", k: int, answers: bool
) -> "EvalReport":
    from time import monotonic

    from whence import __version__
    from whence.api.evaluation import EvalReport
    from whence.evaluate import Evaluation, total
    from whence.extract.scheduling import Prices
    from whence.models import now

    chat = app.chat if answers else None
    evaluation = Evaluation(
        store=app.store, search=app.search, chat=chat, project_id=project.id, mode=mode, k=k
    )
    await evaluation.check(asked, name)
    began = monotonic()
    results: list[QuestionMeasures] = []
    with progress("Asking", quiet=wants_json()) as show:
        show(0, len(asked))
        async for one in evaluation.results(asked):
            results.append(one)
            show(len(results), len(asked))
    return EvalReport(
        version=__version__,
        created_at=now(),
        project=project.name,
        mode=mode,
        k=k,
        answerer=app.answerer.name if answers else None,
        totals=total(results, prices=Prices.of(app.settings), seconds=monotonic() - began),
        results=results,
    )


async def _make(app: App, project: "Project", path: Path, count: int) -> None:
    """Writes the drafted questions, even if the model fails in the middle."""
    import orjson

    from whence.evaluate import Drafter

    settings = app.settings
    drafter = Drafter(
        store=app.store,
        project=project,
        model=app.chat_model,
        max_tokens=settings.llm_max_tokens,
        context=settings.llm_context,
    )
    lines: list[dict[str, Any]] = []
    try:
        with progress("Drafting", quiet=wants_json()) as show:
            show(0, count)
            async for line in drafter.lines(count):
                lines.append(line)
                show(len(lines), count)
    finally:
        if lines:
            with click.open_file(str(path), "wb") as file:
                file.writelines(orjson.dumps(line) + b"\n" for line in lines)
    if not lines:
        raise click.ClickException(_explain_none(drafter))
    tokens = drafter.prompt_tokens, drafter.completion_tokens
    cost = "" if app.chat_model is None else f" ({tokens[0]} and {tokens[1]} tokens)"
    if drafter.useful_replies < drafter.replies:
        useful = f"{drafter.useful_replies} of {counted(drafter.replies, 'reply', 'replies')} of the model"
        rest = f"{drafter.from_headings} of {counted(len(lines), 'question')} from headings and definitions."
        print_notes([f"{useful} had a question, an answer and a quote from the passage; {rest}"])
    if len(lines) < count:
        print_notes([f"{len(lines)} of {count} questions: the documents yielded no more."])
    if str(path) != "-":
        written = {"questions": len(lines), "file": str(path), "promptTokens": tokens[0]}
        print_result(
            {**written, "completionTokens": tokens[1]},
            f"{counted(len(lines), 'question')} in {path}{cost}. Read them before you rely on them.",
        )


def _explain_none(drafter: "Drafter") -> str:
    name = drafter.project.name
    if not drafter.documents:
        return f"Project {name} has no document to draft questions from."
    headings = f"the documents of project {name} have no headings or definitions to draft from"
    if drafter.model is None:
        return f"Nothing drafted: {headings}. Configure a chat model (WHENCE_LLM_BASE_URL) or write the questions."
    replies = counted(drafter.replies, "reply", "replies")
    return (
        f"Nothing drafted: none of {replies} of the model had a question, an answer and a quote from the passage, and "
        f"{headings}. Try a larger model."
    )


async def _write_feedback(app: App, project: "Project", path: Path) -> None:
    import orjson

    from whence.evaluate.feedback import questions_from
    from whence.store.keys import EVERYONE

    found, _ = await app.store.answers.page(
        project.id, EVERYONE, feedback="any", limit=_MOST_QUESTIONS, offset=0
    )
    lines = questions_from(found)
    if not lines:
        raise click.ClickException(f"Project {project.name} has no answer with feedback to learn from.")
    with click.open_file(str(path), "wb") as file:
        file.writelines(orjson.dumps(line) + b"\n" for line in lines)
    if str(path) != "-":
        written = {"questions": len(lines), "file": str(path)}
        print_result(written, f"{counted(len(lines), 'question')} in {path}.")


def _read(path: Path) -> bytes:
    try:
        with click.open_file(str(path), "rb") as file:
            content: bytes = file.read()
    except OSError as exc:
        raise click.UsageError(f"{path}: {exc.strerror}") from exc
    return content


def _require_new(context: click.Context, count: int | None) -> int | None:
    """Refuses to overwrite a file of questions, before the model is called."""
    path: Path = context.params["questions"]
    if count is not None and path.exists():
        raise click.UsageError(f"{path} exists already; name another file")
    return count


def _print(report: "EvalReport", earlier: "EvalReport | None") -> None:
    notes = dict.fromkeys(note for one in report.results for note in one.notes)
    print_notes(list(notes)[:_MOST_NOTES])
    totals = report.totals
    others = totals.questions - totals.answerable
    unanswerable = f", {others} of them unanswerable" if others else ""
    how = f"{report.mode}, k {report.k}"
    answerer = f"answered by {printable(report.answerer)}" if report.answerer else "search only"
    click.echo(
        f"{printable(report.project)}: {counted(totals.questions, 'question')}{unanswerable}; {how}; {answerer}\n"
    )
    if earlier is None:
        print_table(("MEASURE", "VALUE"), [row[:2] for row in _build_rows(totals, totals, report.k)])
        problems = [
            (one.line, _describe_problem(one, report.k), _shorten(one.question)) for one in report.results
        ]
        if shown := [row for row in problems if row[1]]:
            click.echo()
            print_table(("LINE", "PROBLEM", "QUESTION"), shown)
        return
    if (earlier.mode, earlier.k, earlier.answerer) != (report.mode, report.k, report.answerer):
        print_notes(
            [f"The earlier run had {earlier.mode}, k {earlier.k}, {earlier.answerer or 'no answers'}."]
        )
    print_table(("MEASURE", "NOW", "BEFORE", "CHANGE"), _build_rows(totals, earlier.totals, report.k))
    _print_changes(report.comparison)


def _print_changes(comparison: "Comparison") -> None:
    rows = [
        (
            _shorten(one.question),
            "; ".join(_change(name, was.before, was.after) for name, was in one.changes.items()),
        )
        for one in comparison.questions
    ]
    rows += [(_shorten(question), "new") for question in comparison.added]
    rows += [(_shorten(question), "not asked again") for question in comparison.removed]
    click.echo()
    if rows:
        print_table(("QUESTION", "CHANGE"), rows)
    else:
        click.echo("No question changed.")


def _build_rows(now: "EvalTotals", before: "EvalTotals", k: int) -> list[tuple[str, ...]]:
    """Label, new value, old value and change of each measure that either report has."""
    rows = []
    for label, name, form in _MEASURES:
        new, old = _read_measure(now, name), _read_measure(before, name)
        if new is None and old is None:
            continue
        change = ""
        if new is not None and old not in (None, new):
            change = form.replace(":", ":+").format(new - old).replace("%", " points")
        rows.append(
            (label.format(k=k), *("" if one is None else form.format(one) for one in (new, old)), change)
        )
    return rows


def _read_measure(totals: "EvalTotals", name: str) -> Any:
    return totals.support[name] if name in totals.support else getattr(totals, name, None)


def _describe_problem(one: "QuestionMeasures", k: int) -> str:
    if one.error is not None:
        return shorten(printable(one.error), _QUESTION_SHOWN)
    if not one.answerable:
        return "answered" if one.cited else "something found" if one.hits else ""
    if one.rank is None:
        return f"not in the first {k} hits" if one.hits else "nothing found"
    if one.answer_ms is not None and not one.cited:
        return "no source in the answer"
    return "cites something else" if one.cites_expected is False else ""


def _change(name: str, before: Any, after: Any) -> str:
    from whence.api.values import snake

    if isinstance(before, dict) and isinstance(after, dict):
        levels = [level for level in {**before, **after} if before.get(level, 0) != after.get(level, 0)]
        return ", ".join(f"{level} {before.get(level, 0)} → {after.get(level, 0)}" for level in levels)
    return f"{snake(name).replace('_', ' ')} {_format_value(before)} → {_format_value(after)}"


def _format_value(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else "none" if value is None else printable(str(value))


def _shorten(question: str) -> str:
    return shorten(printable(question), _QUESTION_SHOWN)
