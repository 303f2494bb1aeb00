"""What of a passage can be quoted."""

from hypothesis import given
from tests.texts import texts

from whence.chat.quotable import quotables
from whence.chat.words import words

README = """\
# Ferryman

![build](https://img.example/build.svg)

Ferryman copies tables. It needs no lock.

```python
crossing = Crossing()

crossing.copy("orders")
```

<svg width="3"><rect x="1" y="2"/><text x="1">the source database</text></svg>

| key | default |
|---|---|
| `batch` | 5000 |
| `retries` | 3 |

- Press Ctrl-C.
2. Start again.

**Does it copy indexes?** Yes, when the rows have arrived. They are built anew.
"""


def test_sentences_rows_and_code_are_told_apart() -> None:
    assert [(one.kind, one.text) for one in quotables(README)] == [
        ("sentence", "Ferryman copies tables."),
        ("sentence", "It needs no lock."),
        ("code", '```python\ncrossing = Crossing()\n\ncrossing.copy("orders")\n```'),
        ("row", "`batch` · 5000"),
        ("row", "`retries` · 3"),
        ("sentence", "Press Ctrl-C."),
        ("sentence", "Start again."),
        ("reply", "Yes, when the rows have arrived."),
        ("sentence", "They are built anew."),
    ]


def test_what_stands_above_lends_its_words() -> None:
    lent = {one.text: one.lent for one in quotables(README)}
    assert lent["It needs no lock."] == frozenset(words("Ferryman"))
    assert lent["`retries` · 3"] == frozenset(words("key default Ferryman"))
    assert lent["Yes, when the rows have arrived."] == frozenset(words("copy indexes"))


def test_a_title_that_says_something_can_be_quoted() -> None:
    text = "## The old bridge was closed in 1988\n\nNobody knows why."
    assert [one.text for one in quotables(text)] == ["The old bridge was closed in 1988", "Nobody knows why."]


def test_code_that_began_before_the_passage_is_code() -> None:
    text = "crossing.copy(1)\nNow all is well\n```\n\nThen it ends. Really."
    assert [one.kind for one in quotables(text)] == ["code", "sentence", "sentence"]


def test_code_without_a_fence_is_known_by_its_symbols() -> None:
    (one,) = quotables("for (int i = 0; i < n; i++) { sum += a[i]; }")
    assert one.kind == "code"
    assert one.text == "```\nfor (int i = 0; i < n; i++) { sum += a[i]; }\n```"


@given(texts(300))
def test_each_stands_where_it_says_and_in_order(text: str) -> None:
    found = list(quotables(text))
    assert [one.start for one in found] == sorted(one.start for one in found)
    for one in found:
        assert one.text.strip()
        first = words(one.text)[:1]
        assert first == [] or first[0] in words(text[one.start :])


def test_a_question_that_begins_with_a_statement_is_a_question() -> None:
    text = "**It leaks at the bottom. What now?** Push the tank back."
    assert [(one.kind, one.text) for one in quotables(text)] == [("reply", "Push the tank back.")]
    assert quotables(text)[0].lent == frozenset(words("leaks bottom now"))
