"""Reads questions and earlier reports. Every wrong line is named with its field, its value and the expected form."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import orjson
from pydantic import ValidationError

from whence.api.evaluation import EvalQuestion, EvalReport
from whence.api.reading import read
from whence.errors import BadInput

Questions: TypeAlias = dict[int, EvalQuestion]
"""By line number."""

_MOST_NAMED = 20
_SHOWN = 80
"""Characters of a wrong value."""


def read_questions(content: bytes, name: str) -> Questions:
    """Reads one question per line of JSON; raises BadInput with all wrong lines."""
    questions: Questions = {}
    asked: dict[str, int] = {}
    problems: list[str] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not line.strip():
            continue
        try:
            one = read(EvalQuestion, orjson.loads(line))
        except orjson.JSONDecodeError as exc:
            problems.append(
                _describe(number, "", line.decode(errors="replace"), f"a JSON object ({exc.msg})")
            )
        except BadInput as exc:
            problems.append(_wrong_field(number, exc.details))
        else:
            first = asked.setdefault(one.question, number)
            if first != number:
                problems.append(
                    wrong_line(number, "question", one.question, f"another question than on line {first}")
                )
            questions[number] = one
    if problems:
        raise wrong_lines(name, problems)
    if not questions:
        raise BadInput(f'{name} has no questions; a line is {{"question": "…", "document": "…"}}')
    return questions


def read_report(content: bytes, name: str) -> EvalReport:
    """Reads the output of `whence eval --json`."""
    try:
        return EvalReport.model_validate_json(content)
    except ValidationError as exc:
        error = exc.errors()[0]
        where = ".".join(map(str, error["loc"])) or "it"
        expected = "the output of an earlier `whence eval --json`"
        raise BadInput(f"{name} is no report: {where}: {error['msg']}; expected {expected}") from exc


def wrong_line(number: int, field: str, given: Any, expected: str) -> str:
    """One wrong line, for `wrong_lines`."""
    return _describe(number, field, orjson.dumps(given).decode(), expected)


def wrong_lines(name: str, problems: list[str]) -> BadInput:
    """The error for a file with wrong lines."""
    shown = problems[:_MOST_NAMED]
    more = [f"and {len(problems) - len(shown)} more"] if len(problems) > len(shown) else []
    lines = "1 wrong line" if len(problems) == 1 else f"{len(problems)} wrong lines"
    return BadInput("\n  ".join([f"{name} has {lines}:", *shown, *more]))


def _wrong_field(number: int, details: Mapping[str, Any]) -> str:
    field = details.get("field") or details.get("parameter") or ""
    expected = details.get("expected", "a JSON object")
    if "provided" not in details:
        return _describe(number, field, "nothing", expected)
    return wrong_line(number, field, details["provided"], expected)


def _describe(number: int, field: str, given: str, expected: str) -> str:
    where = f"line {number}, {field}" if field else f"line {number}"
    shown = given if len(given) <= _SHOWN else given[:_SHOWN] + "…"
    return f"{where}: got {shown}, expected {expected}"
