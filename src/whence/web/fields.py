"""The fields of a JSON object, each read by its name in camelCase or snake_case; what is wrong is named."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any, TypeVar
from uuid import UUID

from whence.errors import BadInput, InvalidParameter, InvalidUUID
from whence.types import is_blank
from whence.web.values import canonical_uuid, parse_flag, snake, storable

Choice = TypeVar("Choice", bound=str)

_MOST_NAMED = 5
_LONGEST_NAME = 60
_LONGEST_DAY = len("2026-11-15")
_LAST_DAY = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)
"""That has a day after it: "until 9999-12-31" means for ever."""


class Fields:
    """A field that is null is as if it were absent."""

    def __init__(self, sent: Any, *, inside: str = "") -> None:
        if not isinstance(sent, Mapping):
            if inside:
                raise InvalidParameter.of(inside, provided=sent, expected="a JSON object")
            raise BadInput("The request body must be a JSON object", details={"provided": sent})
        self._sent = sent
        self._inside = inside

    def require_known(self, *names: str) -> None:
        """For objects in which a misspelt name would change what is asked."""
        known = {form for name in names for form in (name, snake(name))}
        for name, value in self._sent.items():
            if name not in known:
                raise InvalidParameter.unknown(self._named(str(name)), provided=value, known=names)

    def unknown_to(self, *names: str) -> tuple[str, ...]:
        """A note on fields that mean nothing here, where there are any: one may be misspelt."""
        known = {form for name in names for form in (name, snake(name))}
        odd = [str(name)[:_LONGEST_NAME] for name in self._sent if name not in known]
        if not odd:
            return ()
        near = {other for name in odd[:_MOST_NAMED] for other in get_close_matches(name, names, n=1)}
        meant = f" (did you mean {', '.join(sorted(near))}?)" if near else ""
        return (f"Ignored, as there is no such field: {', '.join(odd[:_MOST_NAMED])}{meant}",)

    def value(self, name: str) -> Any:
        found = self._sent.get(name)
        return self._sent.get(snake(name)) if found is None else found

    def fields(self, name: str) -> "Fields | None":
        value = self.value(name)
        return None if value is None else Fields(value, inside=self._named(name))

    def objects(self, name: str, *, most: int) -> list["Fields"]:
        items = self._list(name, most=most) or []
        return [Fields(item, inside=f"{self._named(name)}[{index}]") for index, item in enumerate(items)]

    def text(self, name: str, *, most: int) -> str | None:
        value = self.value(name)
        if value is None:
            return None
        if isinstance(value, str) and is_blank(value):
            raise self.wrong(name, "a text that is not blank")
        return self.words(name, most=most)

    def words(self, name: str, *, most: int) -> str:
        """A text that must be there, and may be empty."""
        value = self.value(name)
        if not isinstance(value, str):
            raise self.wrong(name, f"a text, not {_kind(value)}")
        self._require_storable(name, value)
        if len(value) > most:
            expected = f"at most {most} characters"
            raise InvalidParameter.of(self._named(name), provided=len(value), expected=expected)
        return value

    def choice(self, name: str, allowed: tuple[Choice, ...], default: Choice) -> Choice:
        value = self.value(name)
        if value is None:
            return default
        found = next((one for one in allowed if one == value), None)
        if found is None:
            raise self.wrong(name, f"one of {', '.join(allowed)}")
        return found

    def whole(self, name: str, low: int, high: int, default: int) -> int:
        value = self.value(name)
        if value is None:
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.wrong(name, f"an integer from {low} to {high}")
        return value

    def number(self, name: str, low: float, high: float, default: float) -> float:
        value = self.value(name)
        if value is None:
            return default
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            raise self.wrong(name, f"a number from {low:g} to {high:g}")
        return float(value)

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.value(name)
        return default if value is None else parse_flag(self._named(name), value)

    def uuids(self, name: str, *, most: int) -> tuple[UUID, ...] | None:
        items = self._list(name, most=most)
        if items is None:
            return None
        for index, item in enumerate(items):
            if canonical_uuid(item) is None:
                raise InvalidUUID(
                    f"Invalid UUID format in {self._named(name)} at index {index}",
                    details={"field": self._named(name), "index": index, "provided": item},
                )
        return tuple(UUID(item) for item in items)

    def texts(self, name: str, *, most: int) -> tuple[str, ...]:
        items = self._list(name, most=most) or []
        if not all(isinstance(item, str) and not is_blank(item) for item in items):
            raise self.wrong(name, "a list of texts that are not blank")
        self._require_storable(name, *items)
        return tuple(item.strip() for item in items)

    def _list(self, name: str, *, most: int) -> list[Any] | None:
        value = self.value(name)
        if value is None:
            return None
        if not isinstance(value, list):
            raise self.wrong(name, "a list")
        if len(value) > most:
            raise InvalidParameter.of(
                self._named(name), provided=len(value), expected=f"at most {most} items"
            )
        return value

    def mapping(self, name: str) -> dict[str, Any] | None:
        value = self.value(name)
        if value is not None and not isinstance(value, dict):
            raise self.wrong(name, "a JSON object")
        if value is not None:
            self._require_storable(name, *_strings(value))
        return value

    def moment(self, name: str, *, day_after: bool = False) -> datetime | None:
        """A time, or a day: with `day_after` the end of it. Without a zone it is UTC."""
        value = self.value(name)
        if value is None:
            return None
        try:
            if isinstance(value, str):
                found = datetime.fromisoformat(value)
                found = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
                is_day = day_after and len(value) <= _LONGEST_DAY
                return min(found, _LAST_DAY) + timedelta(days=1) if is_day else found
        except (ValueError, OverflowError):
            pass
        raise self.wrong(name, "a day or a time such as 2026-11-15 or 2026-11-15T20:11:45Z")

    def _require_storable(self, name: str, *texts: str) -> None:
        for text in texts:
            try:
                storable(text)
            except ValueError as exc:
                raise InvalidParameter.of(self._named(name), provided=text, expected=str(exc)) from exc

    def wrong(self, name: str, expected: str) -> InvalidParameter:
        return InvalidParameter.of(self._named(name), provided=self.value(name), expected=expected)

    def _named(self, name: str) -> str:
        """As it was sent."""
        sent = snake(name) if name not in self._sent and snake(name) in self._sent else name
        return f"{self._inside}.{sent}" if self._inside else sent


def _kind(value: Any) -> str:
    """What a value of JSON is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "a list" if isinstance(value, list) else "an object"


def _strings(value: Any) -> Iterator[str]:
    """Every text in a value of JSON, names of fields included."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one
