"""What is said of documents on the command line."""

from typing import Any

import click
import pytest

from whence.cli.options import read_pairs


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("a=b", "b"),
        ("a=b=c", "b=c"),
        ("a=", ""),
        ("a=2026", 2026),
        ("a=2.5", 2.5),
        ("a=true", True),
        ("a=null", None),
        ('a="2026"', "2026"),
        ("a=[1]", "[1]"),
        ("a=NaN", "NaN"),
    ],
)
def test_values_are_numbers_flags_or_text(given: str, value: Any) -> None:
    assert read_pairs("--meta", [given]) == {"a": value}


def test_nothing_given_is_nothing_said() -> None:
    assert read_pairs("--meta", []) == {}


@pytest.mark.parametrize("given", ["a", "=b", " =b", ""])
def test_a_name_is_needed(given: str) -> None:
    with pytest.raises(click.UsageError, match="NAME=VALUE"):
        read_pairs("--meta", [given])
