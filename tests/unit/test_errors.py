"""The exception tree: each class has a code and words of its own."""

import re

import pytest

from whence import errors
from whence.errors import InvalidParameter, WhenceError


def tree(top: type[WhenceError]) -> list[type[WhenceError]]:
    return [top, *(error for child in top.__subclasses__() for error in tree(child))]


ERRORS = [error for error in tree(WhenceError) if error.__module__ == errors.__name__]


def test_codes_are_unique() -> None:
    codes = [error.code for error in ERRORS]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[A-Z][A-Z_]+", code) for code in codes)


@pytest.mark.parametrize("error", ERRORS)
def test_the_docstring_is_the_message(error: type[WhenceError]) -> None:
    assert error.__doc__
    assert not error.__doc__.endswith(".")
    assert error().message == str(error()) == error.__doc__
    assert error("Other words").message == "Other words"
    assert 400 <= error.status <= 599


def test_details_are_a_copy() -> None:
    details = {"a": 1}
    error = WhenceError(details=details)
    error.details["b"] = 2
    assert details == {"a": 1}


def test_a_parameter() -> None:
    error = InvalidParameter.of("limit", provided=0, expected="a number from 1 to 100")
    assert error.message == "limit must be a number from 1 to 100"
    assert error.details == {"parameter": "limit", "provided": 0, "expected": "a number from 1 to 100"}
