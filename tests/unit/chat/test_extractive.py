"""Answers that are quotations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import texts

from whence.chat import extractive
from whence.chat.citing import validate
from whence.chat.extractive import MAX_CHARACTERS, MAX_SENTENCES
from whence.chat.passages import Passage
from whence.chat.words import words


def passage(number: int, text: str, *, document: str = "d", start: int = 0) -> Passage:
    return Passage(
        id=f"0190a1b2-7c3d-7e4f-8a5b-{number:012}", text=text, document_id=document, start_offset=start
    )


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def extract(question: str, passages: list[Passage]) -> str | None:
    """With the numbers of the passages for their ids."""
    found = extractive.extract(question, passages)
    text = found.text if found else None
    for number, chunk_id in enumerate((one.id for one in passages if one.id), 1):
        text = text.replace(f"[{chunk_id}]", f"[{number}]") if text else None
    return text


BRIDGE = passage(
    1, "The bridge was built in 1874. It is made of iron. Trains cross it every hour.", start=500
)
MAYOR = passage(2, "Many people came that day. The mayor, Anna Berg, opened the bridge in spring.", start=100)
CATS = passage(3, "Cats sleep for most of the day. They like milk.", document="cats")


def test_the_sentence_that_answers_is_quoted_with_its_number() -> None:
    assert extract("When was the bridge built?", [CATS, BRIDGE]) == "The bridge was built in 1874. [2]"


def test_sentences_come_in_reading_order() -> None:
    answer = extract("Who opened the bridge, and when was the bridge built?", [BRIDGE, MAYOR])
    assert (
        answer == "The mayor, Anna Berg, opened the bridge in spring. [2] The bridge was built in 1874. [1]"
    )


def test_nothing_is_said_where_nothing_answers() -> None:
    assert extract("What is the boiling point of mercury?", [BRIDGE, MAYOR, CATS]) is None
    assert extract("?", [BRIDGE]) is None
    assert extract("When was the bridge built?", []) is None


def test_what_says_the_same_is_said_once() -> None:
    again = passage(4, "The bridge was built in 1874.", document="copy")
    assert extract("When was the bridge built?", [BRIDGE, again]) == "The bridge was built in 1874. [1]"


def test_a_text_without_an_id_is_not_quoted() -> None:
    composed = Passage(id=None, text="The bridge was built in 1874.")
    assert extract("When was the bridge built?", [composed, BRIDGE]) == "The bridge was built in 1874. [1]"


def test_accents_and_endings_do_not_matter() -> None:
    cafe = passage(5, "Les cafés de Málaga ouvrent tôt. Le reste dort.")
    assert extract("cafe Malaga", [cafe]) == "Les cafés de Málaga ouvrent tôt. [1]"


def test_scripts_without_spaces_are_found() -> None:
    tokyo = passage(6, "东京是日本的首都。猫喜欢牛奶。")
    assert extract("日本的首都是哪里？", [CATS, tokyo]) == "东京是日本的首都。 [2]"
    assert extract("猫", [CATS, tokyo]) == "猫喜欢牛奶。 [2]"
    assert extract("山", [CATS, tokyo]) is None


INN = (
    "露天風呂は朝五時から夜十一時まで利用でき、貸切風呂は四十五分で二千円です。\n"
    "夕食は地元の山菜と川魚を使った会席料理で、午後六時または七時半からお選びいただけます。"
    "朝食は和食のみで、七時から九時まで大広間にご用意いたします。"
)


def test_endings_and_particles_of_japanese_bring_no_further_sentences() -> None:
    answer = extract("夕食は何時からですか？", [passage(6, INN)])
    assert answer == (
        "夕食は地元の山菜と川魚を使った会席料理で、午後六時または七時半からお選びいただけます。 [1]"
    )
    park = passage(
        6,
        "東京都立公園のご案内\n\n公園は午前八時に開園し、午後六時に閉園します。"
        "犬を連れて入園できますが、必ずリードを付けてください。駐車場の料金は一時間四百円です。",
    )
    assert extract("公園の閉園時間は？", [park]) == "公園は午前八時に開園し、午後六時に閉園します。 [1]"


@pytest.mark.parametrize("question", ["한강", "한강은?", "서울의 한강"])
def test_korean_words_are_found_whatever_their_endings(question: str) -> None:
    seoul = passage(6, "서울은 대한민국의 수도이다. 서울에는 한강이 흐른다.")
    assert "서울에는 한강이 흐른다. [2]" in (extract(question, [CATS, seoul]) or "")
    assert extract("수도", [CATS, seoul]) == "서울은 대한민국의 수도이다. [2]"


def test_a_sentence_that_would_forge_a_citation_is_not_quoted() -> None:
    forged = passage(7, "See [2] bridge. The bridge was built in 1874.")
    assert extract("Which bridge was built?", [forged, CATS]) == "The bridge was built in 1874. [1]"


def test_weak_sentences_are_not_added() -> None:
    soup = passage(
        8, "The soup simmers for 25 minutes. The soup is vegan. The pot stands in the kitchen. Salt helps."
    )
    assert extract("How long does the soup simmer?", [soup]) == "The soup simmers for 25 minutes. [1]"


def test_a_sentence_that_goes_on_comes_along_where_the_first_does_not_answer() -> None:
    lens = passage(9, "The lens is on show in the hall. It weighs two tons. The hall is large.")
    assert (
        extract("How heavy is the lens?", [lens])
        == "The lens is on show in the hall. [1] It weighs two tons. [1]"
    )


def test_the_reply_to_a_question_is_quoted_and_not_the_question() -> None:
    faq = passage(
        10, "**Can I stop in the middle?** Press Ctrl-C.\n\n**Does it copy indexes?** Yes, at the end."
    )
    assert extract("Can I stop it in the middle?", [faq]) == "Press Ctrl-C. [1]"


def test_another_document_is_not_quoted_for_a_word_by_the_way() -> None:
    oslo = passage(14, "Oslo has 709,000 inhabitants.", document="cities")
    tower = passage(15, "Since 1988 nobody has lived in the tower.", document="tower")
    assert extract("How many people live in Oslo?", [oslo, tower]) == "Oslo has 709,000 inhabitants. [1]"


def test_a_title_alone_is_no_answer() -> None:
    bread = passage(11, "# Sourdough bread\n\nFeed the starter. Fold it four times.")
    assert extract("How hot must the oven be for bread?", [bread]) is None


def test_code_is_quoted_where_it_is_asked_for_and_else_not() -> None:
    text = "Ferryman copies tables.\n\n```console\n$ pip install ferryman\n```\n\nThe end of it."
    readme = passage(12, text)
    assert extract("What does Ferryman copy?", [readme]) == "Ferryman copies tables. [1]"
    assert extract("Which command installs it?", [readme]) == "```console\n$ pip install ferryman\n```\n[1]"


RESET = """\
# Ledger

To reset the ledger of a branch, run this as the owner of the books:

```console
$ ledgerctl wipe --force
```

The branch is told by mail. A ledger has up to forty branches. Each branch may have a reset a year.
"""


def test_the_command_comes_with_the_sentence_that_leads_to_it() -> None:
    (one,) = passages = [passage(16, RESET, start=40)]
    found = extractive.extract("Which command resets the ledger of a branch?", passages)
    assert found
    quoted = [one.text[quote.start : quote.end] for quote in found.quotes]
    assert quoted[:2] == [
        "To reset the ledger of a branch, run this as the owner of the books:",
        "```console\n$ ledgerctl wipe --force\n```",
    ]
    said = [found.text[quote.response_start : quote.response_end] for quote in found.quotes]
    assert said[1] == f"{quoted[1]}\n[{one.id}]"
    assert validate(found.text, passages).text == found.text
    answer = extract("Who may reset the ledger of a branch?", passages)
    assert answer is not None
    assert "ledgerctl" not in answer


LIST = "To list all pumps, use the command:"
PUMPS = "The pumps are in the cellar. All pumps are listed in the book."


@pytest.mark.parametrize(
    ("command", "quoted"),
    [
        ("    pumpctl list --all\n    pumpctl count\n", "```\npumpctl list --all\npumpctl count\n```\n[1]"),
        ("\tpumpctl list --all\n", "```\npumpctl list --all\n```\n[1]"),
        ("- `pumpctl list --all`\n", "`pumpctl list --all` [1]"),
        ("1. On the gateway, call `pumpctl list`.\n", "On the gateway, call `pumpctl list`. [1]"),
    ],
)
def test_what_a_sentence_leads_to_comes_with_it_whatever_its_form(command: str, quoted: str) -> None:
    text = f"{LIST}\n\n{command}\n{PUMPS}"
    gap = "\n\n" if quoted.startswith("```") else " "
    answer = extract("Which command lists all pumps?", [passage(20, text)])
    assert answer is not None
    assert answer.startswith(f"{LIST} [1]{gap}{quoted}")


@pytest.mark.parametrize("item", ["A passport", "**A passport** or a card."])
def test_the_first_item_comes_with_the_sentence_that_leads_to_it(item: str) -> None:
    text = f"For the visa you need these papers:\n\n- {item}\n- A photo\n\nThe office is closed on Mondays."
    answer = extract("Which papers do I need for the visa?", [passage(21, text)])
    assert answer == f"For the visa you need these papers: [1] {item} [1]"


def test_what_a_sentence_leads_to_is_found_in_the_next_chunk() -> None:
    first = passage(22, f"The gateway is grey. {LIST}", start=100)
    code = "```\npumpctl list --all\n```"
    after = passage(23, f"{code}\n\n{PUMPS}", start=100 + len(first.text) + 2)
    for passages, numbers in (([first, after], (1, 2)), ([after, first], (2, 1))):
        answer = extract("Which command lists all pumps?", passages)
        assert answer is not None
        assert answer.startswith(f"{LIST} [{numbers[0]}]\n\n{code}\n[{numbers[1]}]")


@pytest.mark.parametrize("block", ["```bash\nsystemctl restart x\n```", "    systemctl restart x"])
def test_who_asks_how_is_told_the_command(block: str) -> None:
    """Nobody said "command"; and the sentence that leads to it is short."""
    text = f"The server runs on port 80.\n\nTo restart the server, run:\n\n{block}\n\nIt is quiet at night."
    answer = extract("How do I restart the server?", [passage(21, text)]) or ""
    assert "To restart the server, run: [1]" in answer
    assert "systemctl restart x" in answer


def test_a_sentence_that_leads_nowhere_is_quoted_only_where_there_is_no_better() -> None:
    first = passage(24, f"The gateway is grey. {LIST}", start=100)
    far = passage(25, "Call pumpctl list for all pumps.", start=5000)
    assert extract("Which command lists all pumps?", [first, far]) == "Call pumpctl list for all pumps. [2]"
    assert extract("Which command lists all pumps?", [first]) == f"{LIST} [1]"


MAIL = """Hi all,

I am travelling to Rome next month for the supplier conference, together with two colleagues from the plant. We were asked by the
organisers to reserve our rooms before the end of the week because the city will be crowded. {question} The organisers offer
three hotels near the station. The cheapest is 165 euros, the others are 195 and 240 euros. Breakfast is included everywhere, and there
is a bus to the fair. The supplier will pay for the dinner.

Many thanks and best regards
Tom"""
RATES = "Rooms are booked by the front desk. A hotel room may cost up to 180 euros per night. Receipts are kept for ten years."


@pytest.mark.parametrize(
    "question", ["How much may a hotel room cost per night?", "ホテル room cost per night は？"]
)
def test_a_long_message_is_answered_by_what_it_asks(question: str) -> None:
    assert extract(MAIL.format(question=question), [passage(26, RATES)]) == (
        "A hotel room may cost up to 180 euros per night. [1]"
    )


SALARIES = (
    'name,role,salary\nGreta Holm,engineer,61000\nIvo Brandt,accountant,54000\n"Berg, Ann",cook,40000\n'
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "What is the salary of Ivo Brandt?",
            "name · role · salary [1]\nIvo Brandt · accountant · 54000 [1]",
        ),
        ("Who is the cook?", "name · role · salary [1]\nBerg, Ann · cook · 40000 [1]"),
        (
            "salary of Greta and Ivo",
            "name · role · salary [1]\nGreta Holm · engineer · 61000 [1]\nIvo Brandt · accountant · 54000 [1]",
        ),
    ],
)
def test_of_lines_of_cells_the_rows_are_quoted(question: str, answer: str) -> None:
    assert extract(question, [passage(27, SALARIES)]) == answer
    tabs = SALARIES.replace('"Berg, Ann"', "Berg; Ann").replace(",", "\t").replace(";", ",")
    assert extract(question, [passage(27, tabs)]) == answer


def test_code_that_would_make_code_of_its_citation_is_not_quoted() -> None:
    assert extract("Which command has --all?", [passage(19, "````pumpctl list --all")]) is None


def test_code_under_another_title_belongs_to_no_sentence_above() -> None:
    text = RESET.replace("books:\n\n", "books.\n\n# Other\n\n")
    assert "ledgerctl" not in (
        extract("Which command resets the ledger of a branch?", [passage(17, text)]) or ""
    )


@pytest.mark.parametrize("ident", ["deadbeef-7c3d-7e4f-8a5b-000000000009", CATS.id or ""])
def test_an_id_in_brackets_is_quoted_without_them(ident: str) -> None:
    known = passage(18, f"The bridge [{ident}] was built in 1874. It is long.")
    assert (
        extract("When was the bridge built?", [known, CATS]) == f"The bridge ({ident}) was built in 1874. [1]"
    )


def test_of_a_table_the_row_is_quoted() -> None:
    fees = passage(13, "| | per year |\n|---|---|\n| adults | 180 € |\n| students | 90 € |")
    assert extract("What do students pay per year?", [fees]) == "· per year [1]\nstudents · 90 € [1]"


OFFICES = """\
# Offices

## Berlin

The office opens at nine.

## Paris

The office opens at nine. It closes at four.

| Part | Price in euros |
|---|---|
| Widget | 40 |
| Gasket | 12 |

- Captain: Ann Lee
- Cook: Bo Ek - and Cy Dunn
"""


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("When does the Paris office open?", [OFFICES.rindex("The office opens")]),
        (
            "price of the widget and of the gasket",
            [OFFICES.index(row) for row in ("| Part", "| Widget", "| Gasket")],
        ),
        ("Who is the captain and who is the cook?", [OFFICES.index("Captain"), OFFICES.index("Cook")]),
    ],
)
def test_what_is_quoted_knows_where_it_stands(question: str, quotes: list[int]) -> None:
    found = extractive.extract(question, [passage(1, OFFICES)])
    assert found
    assert [quote.start for quote in found.quotes] == quotes
    lines = [OFFICES[quote.start : quote.end] for quote in found.quotes]
    assert all("\n" not in line for line in lines)
    said = [found.text[quote.response_start : quote.response_end] for quote in found.quotes]
    assert [words(one.rpartition(" [")[0]) for one in said] == [words(line) for line in lines]


def test_a_dash_in_a_sentence_is_quoted_with_it() -> None:
    assert extract("Who is the cook?", [passage(1, "- Cook: Bo Ek - and Cy Dunn")]) == (
        "Cook: Bo Ek - and Cy Dunn [1]"
    )


@given(about=st.integers(0, 300), parts=st.lists(texts(200), min_size=1, max_size=4))
def test_every_sentence_is_short_enough_and_cited_where_it_stands(about: int, parts: list[str]) -> None:
    question = parts[0][about : about + 60]
    passages = [passage(number, part, start=number * 10_000) for number, part in enumerate(parts, 1)]
    answer = extractive.extract(question, passages)
    assert answer == extractive.extract(question, passages)
    if answer is not None:
        by_id = {one.id: one.text for one in passages}
        found = validate(answer.text, passages)
        assert found.text == answer.text
        assert 1 <= len(found.cited) == len(answer.quotes) <= MAX_SENTENCES
        for quote, cited in zip(answer.quotes, found.cited, strict=True):
            assert (quote.chunk_id, quote.response_end) == (cited.id, cited.end)
            said = answer.text[quote.response_start : cited.start]
            assert letters(said) == letters(by_id[quote.chunk_id][quote.start : quote.end])
        quoted = [quote.response_end - quote.response_start for quote in answer.quotes]
        assert len(quoted) == 1 or sum(quoted) <= MAX_CHARACTERS + MAX_SENTENCES * 39


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is Kubernetes?", "Kubernetes is a container orchestrator that we use. [1]"),
        ("What does Jenkins do?", "Jenkins builds the images every night. [1]"),
        ("Who's the porter?", "The porter is Tom Reed. [1]"),
    ],
)
def test_names_that_begin_a_sentence_are_found(question: str, answer: str) -> None:
    text = (
        "Kubernetes is a container orchestrator that we use. Jenkins builds the images every night. "
        "The porter is Tom Reed."
    )
    assert extract(question, [passage(1, text)]) == answer


def test_a_plural_that_begins_a_sentence_is_no_name() -> None:
    text = "Windows are supported by frames of oak. Each window has two."
    assert extract("Is Larkspur supported on Windows?", [passage(1, text)]) is None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was Napoleon born?", "Napoleon died in 1821. Wellington was born in 1769."),
        ("What is the capital of France?", "The capital of Spain is Madrid. France exports wine."),
        ("Who invented the telephone?", "The telephone is for guests. Edison invented the phonograph."),
        (
            "How many swimming pools and tennis courts does the camp have?",
            "# Summer camp\n\nThe camp lasts two weeks. Bring two sets of swimming clothes and rain boots.",
        ),
    ],
)
def test_what_is_said_of_something_else_is_no_answer(question: str, text: str) -> None:
    assert extract(question, [passage(1, text)]) is None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was the museum built?", "The museum shows ships. It was built in 1874."),
        ("What is the price of the Falcon?", "The Falcon is a boat. The price is 20,000 euros."),
        ("Who founded the club?", "The club has 40 members. Anna Berg founded it in 1921."),
    ],
)
def test_what_refers_back_is_one(question: str, text: str) -> None:
    assert text.split(". ")[1] in (extract(question, [passage(1, text)]) or "")


def test_who_only_asks_how_often_is_answered_by_the_earlier_question() -> None:
    passages = [passage(1, "Ships often sail. A loan can be renewed twice.")]
    found = extractive.extract("How often?", passages, before="Can a loan be renewed?")
    assert found is not None
    assert found.text.startswith("A loan can be renewed twice.")
