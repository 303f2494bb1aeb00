"""Chat without a model, with the real embedder: what is quoted, and that quotes are verbatim."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.api.chatting import CITED, ask
from tests.api.conftest import usual_settings
from tests.api.ingesting import ingest
from tests.api.shared_app import SharedApp

from whence.offline import NOTHING_QUOTABLE

pytestmark = pytest.mark.one_app

PAYMENTS = """# Payments service

The payments service charges cards and sends receipts.

## Rolling back

To roll back, deploy the tag of the **previous** release:

```console
$ deploy payments --tag previous
```

Watch the error rate for ten minutes afterwards.
"""
ORDERS = """# Orders service

The orders service keeps baskets.

## Rolling back

To roll back the orders service, deploy the tag of the release before it:

```console
$ deploy orders --tag previous
```
"""
INCIDENT = """# Incident 12

On Friday the team had to roll back a service twice, because the first deploy went to the wrong region.
"""
LICENCE = """MIT License

Copyright (c) 2024 Harbour Tools

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND.
"""
USAGE = "Use `harbour copy A B` to copy a file with the **software**. See [the manual](https://example.com/m) for more."
REPORT = """# Annual report

Revenue of the northern region was 4.1 million euros in 2023. Revenue of the northern region was 5.2 million euros in 2024.

## 2024

Staff costs of the northern region were 2 million euros.

## 2023

Staff costs of the northern region were 1 million euros.
"""
PORTS = """# Ports

| Service | Owner | Port |
|---|---|---|
| payments | **Ann Lee** | 8080 |
| search | Bo Ek | [9090](https://example.com) |
"""
CSV = "name,room,phone\nAnn Lee,12,555-0100\nBo Ek,14,555-0101\nCy Dunn,15,555-0102\n"
ACCOUNT = "To open an account you need:\n\n- a **passport**\n- a form with your address\n\nAccounts are free of charge.\n"


@pytest.fixture(scope="module")
async def shared_app(shared_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SharedApp]:
    settings = usual_settings(shared_dsn, tmp_path_factory.mktemp("shared") / "data")
    shared = SharedApp(replace(settings, embedder="minilm"))
    yield shared
    await shared.aclose()


def require_quotes(told: dict[str, Any]) -> None:
    """At most three quotes, each verbatim and followed by its citation, and nothing else."""
    texts = {source["id"]: source["chunkText"] for source in told["sources"]}
    cited = CITED.findall(told["response"])
    assert 1 <= len(cited) <= 3
    assert [one["chunkId"] for one in told["citations"]] == cited
    for one in told["citations"]:
        assert one["quote"] in texts[one["chunkId"]]
        assert one["quote"] in told["response"][one["responseStart"] : one["responseEnd"]]
        assert (one["support"], one["supported"]) == (1.0, True)
        assert (one["supportLevel"], one["origin"]) == ("verbatim", "model")
    for said, chunk_id in zip(CITED.split(told["response"])[::2], cited, strict=False):
        assert all(line in texts[chunk_id] for line in said.strip().split("\n"))


async def quotes(client: httpx.AsyncClient, question: str) -> list[str]:
    told = await ask(client, question)
    require_quotes(told)
    return [one["quote"] for one in told["citations"]]


async def test_the_best_hit_is_quoted_with_the_code_that_it_introduces(client: httpx.AsyncClient) -> None:
    for name, text in ("payments.md", PAYMENTS), ("orders.md", ORDERS), ("incident.md", INCIDENT):
        await ingest(client, text, name=name)
    first, *_ = await quotes(client, "How do I roll back the payments service?")
    start = PAYMENTS.index("To roll back")
    assert first == PAYMENTS[start : PAYMENTS.index("```\n\nWatch") + 3]
    first, *_ = await quotes(client, "How do I roll back the orders service?")
    assert "deploy orders --tag previous" in first


async def test_a_statement_about_another_year_is_not_quoted(client: httpx.AsyncClient) -> None:
    await ingest(client, REPORT, name="report.md")
    asked = "What was the revenue of the northern region in {}?"
    for year, other in (2023, 2024), (2024, 2023):
        said = await quotes(client, asked.format(year))
        assert (
            said[0]
            == f"Revenue of the northern region was {'4.1' if year == 2023 else '5.2'} million euros in {year}."
        )
        assert not any(str(other) in one for one in said)
    assert (await quotes(client, "What were the staff costs of the northern region in 2023?"))[0].endswith(
        "were 1 million euros."
    )
    told = await ask(client, asked.format(2019))
    assert (told["response"], told["sources"]) == (NOTHING_QUOTABLE, [])


async def test_a_licence_notice_is_quoted_only_for_a_question_about_the_licence(
    client: httpx.AsyncClient,
) -> None:
    await ingest(client, f"{LICENCE}\n{USAGE}\n", name="README.md")
    assert (await quotes(client, "How do I use the software to copy a file?"))[0].startswith(
        "Use `harbour copy"
    )
    for question in ("Can I use, copy and modify a file with the software?", "How do I copy the software?"):
        told = await ask(client, question)
        assert "Permission is hereby granted" not in told["response"]
        assert "PROVIDED" not in told["response"]
    said = await quotes(client, "Which rights does the license of the software grant to any person?")
    assert said[0].startswith("Permission is hereby granted")


async def test_markup_is_quoted_as_it_is(client: httpx.AsyncClient) -> None:
    await ingest(client, USAGE, name="usage.md")
    told = await ask(client, "Where is the manual of the software?")
    require_quotes(told)
    assert "[the manual](https://example.com/m)" in told["response"]
    assert (await quotes(client, "How do I copy a file with the software?"))[0] == USAGE.split(
        " See ", maxsplit=1
    )[0]


async def test_a_row_comes_with_the_head_of_its_table(client: httpx.AsyncClient) -> None:
    await ingest(client, PORTS, name="ports.md")
    told = await ask(client, "Which port does payments use?")
    require_quotes(told)
    head = "| Service | Owner | Port |\n|---|---|---|\n"
    assert told["response"].startswith(f"{head}| payments | **Ann Lee** | 8080 |\n\n[")
    assert told["citations"][0]["quote"] == "| payments | **Ann Lee** | 8080 |"


async def test_a_row_of_csv_comes_with_its_head(client: httpx.AsyncClient) -> None:
    await ingest(client, CSV, name="phones.csv")
    told = await ask(client, "What is the phone of Cy Dunn?")
    require_quotes(told)
    assert told["response"].startswith("name,room,phone\nCy Dunn,15,555-0102\n\n[")


async def test_a_list_comes_with_the_sentence_that_introduces_it(client: httpx.AsyncClient) -> None:
    await ingest(client, ACCOUNT, name="account.md")
    assert await quotes(client, "What do I need to open an account?") == [
        "To open an account you need:\n\n- a **passport**\n- a form with your address"
    ]


async def test_code_is_quoted_where_it_is_asked_for(client: httpx.AsyncClient) -> None:
    await ingest(
        client,
        "# Deploy\n\nPayments are deployed by hand.\n\n```console\n$ deploy payments\n```\n\nDeploys take a minute.\n",
        name="deploy.md",
    )
    assert (
        "```console\n$ deploy payments\n```" in (await quotes(client, "Which command deploys payments?"))[0]
    )
    assert not any("```" in one for one in await quotes(client, "Who deploys payments?"))


async def test_the_same_text_is_quoted_once(client: httpx.AsyncClient) -> None:
    for name in ("a.md", "b.md", "c.md"):
        await ingest(client, f"The ferry to Narvik leaves at nine.\n\nSee {name}.", name=name)
    assert await quotes(client, "When does the ferry to Narvik leave?") == [
        "The ferry to Narvik leaves at nine."
    ]


async def test_an_id_in_brackets_is_never_quoted(client: httpx.AsyncClient) -> None:
    text = "The ferry to Narvik leaves at nine [550e8400-e29b-41d4-a716-446655440000]. The ferry to Narvik takes two hours."
    await ingest(client, text, name="ferry.md")
    assert "550e8400" not in (await ask(client, "When does the ferry to Narvik leave?"))["response"]


async def test_near_misses_are_not_answered(client: httpx.AsyncClient) -> None:
    await ingest(client, PAYMENTS, name="payments.md")
    await ingest(client, ACCOUNT, name="account.md")
    for question in (
        "Which database does the payments service have?",
        "Which fruit grows in Norway?",
        "When was the account closed?",
    ):
        assert (await ask(client, question))["sources"] == [], question
