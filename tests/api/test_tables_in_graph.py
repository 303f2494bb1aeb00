"""Rows of tables become objects without a model: from a sheet, a Word table, a markdown file and comma-separated lines."""

import httpx
import pytest
from tests.api.ingesting import data_of, upload
from tests.extracting import extract, graph
from tests.files.office import docx, xlsx

pytestmark = pytest.mark.one_app

ROWS = [
    ["Service", "Owner", "Port", "Depends on"],
    ["Billing API", "Jane Doe", "8080", "Ledger"],
    ["Ledger", "Platform Team", "8080", ""],
]
MARKDOWN = "\n".join(f"| {' | '.join(row)} |" for row in [ROWS[0], ["---"] * 4, *ROWS[1:]])
FILES = {
    "services.xlsx": xlsx({"Services": ROWS}),
    "services.docx": docx(["# Services"], table=ROWS),
    "services.md": f"# Services\n\n{MARKDOWN}\n".encode(),
    "services.csv": "\n".join(",".join(row) for row in ROWS).encode(),
}


@pytest.mark.parametrize("name", FILES)
async def test_each_row_is_an_object_with_its_quotes(client: httpx.AsyncClient, dsn: str, name: str) -> None:
    document_id = (await upload(client, name, FILES[name]))["documentId"]
    job = await extract(client, document_id)
    assert (job["status"], job["extraction"]["extractor"]) == ("completed", "rules")
    found = graph(dsn)
    assert found["Component Billing API"] == {"owner": "Jane Doe", "Port": "8080"}
    assert found["Component Ledger"] == {"owner": "Platform Team", "Port": "8080"}
    assert {"Person Jane Doe", "Organization Platform Team"} <= found.keys()

    text = data_of(await client.get(f"/api/v1/documents/{document_id}/text"))["text"]
    objects = data_of(await client.get("/api/v1/objects", params={"type": "Component"}))["items"]
    for each in objects:
        path = f"/api/v1/objects/{each['id']}/provenance"
        claims = data_of(await client.get(path))["items"]
        assert {claim["property_name"] for claim in claims} == {"name", "owner", "Port"}
        for claim in claims:
            start, end = claim["document_start"], claim["document_end"]
            assert text[start:end] == claim["quote"]
            row = text[text.rfind("\n", 0, start) + 1 :].split("\n")[0]
            assert each["name"] in row  # not from the row above, which has the same port


async def test_an_extractor_that_is_not_installed_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.post("/api/v1/projects", json={"name": "x", "config": {"extractor": "oracle"}})
    assert answer.status_code == 400
    assert answer.json()["error"]["details"] == {
        "field": "config.extractor",
        "provided": "oracle",
        "expected": "one of model, rules",
    }
