"""Names of another system count where the merge finds them, too."""

import pytest

from whence.extract.grounding import SearchableText
from whence.extract.imported import is_named


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("AI", "Staff are paid monthly.", False),
        ("AI", "AI is used by staff.", True),
        ("billing service", "The Billing  Service is slow.", True),
        ("東京", "私は東京に住んでいます。", True),
        ("", "Anything.", False),
    ],
)
def test_names(name: str, text: str, *, expected: bool) -> None:
    assert is_named(name, SearchableText(text)) is expected
