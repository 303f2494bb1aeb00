"""The web pages over HTTP: one document at every address of theirs, assets that may be kept for ever, and nothing foreign."""

import re
from pathlib import Path

import httpx
import pytest
from tools import ui_types

from whence.web.routes import pages

pytestmark = pytest.mark.one_app

ADDRESSES = ["/", "/documents", "/d/01890000-0000-7000-8000-000000000001?span=1-2&v=3", "/o/x", "/docs"]


@pytest.fixture
def static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Built</title>")
    (tmp_path / "assets" / "index-AbC1.js").write_text("let a = 1")
    (tmp_path / "assets" / "index-AbC1.js.gz").write_bytes(b"packed")
    monkeypatch.setattr(pages, "STATIC", tmp_path)
    return tmp_path


@pytest.mark.parametrize("address", ADDRESSES)
async def test_every_address_answers_with_the_page(
    client: httpx.AsyncClient, static: Path, address: str
) -> None:
    answer = await client.get(address)
    assert (answer.status_code, answer.text) == (200, (static / "index.html").read_text())
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


async def test_a_browser_that_is_lost_gets_the_page(client: httpx.AsyncClient, static: Path) -> None:
    browser = {"accept": "text/html,*/*;q=0.8"}
    lost = await client.get("/jobs/x", headers=browser)
    assert (lost.status_code, lost.text) == (404, (static / "index.html").read_text())
    for path, headers in (("/jobs/x", {}), ("/api/v1/nowhere", browser)):
        answer = await client.get(path, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_nothing_foreign_or_inline_runs(client: httpx.AsyncClient, static: Path) -> None:
    headers = (await client.get("/")).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert static.exists()


@pytest.mark.usefixtures("static")
async def test_assets_are_kept_for_ever_and_compressed(client: httpx.AsyncClient) -> None:
    plain = await client.get("/assets/index-AbC1.js", headers={"accept-encoding": "identity"})
    assert (plain.text, plain.headers["content-type"]) == ("let a = 1", "text/javascript; charset=utf-8")
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    request = client.build_request("GET", "/assets/index-AbC1.js", headers={"accept-encoding": "gzip"})
    packed = await client.send(request, stream=True)
    assert packed.headers["content-encoding"] == "gzip"
    await packed.aclose()


@pytest.mark.usefixtures("static")
@pytest.mark.parametrize("name", ["..%2findex.html", "%2e%2e", "none.js", ".hidden"])
async def test_only_assets_are_served(client: httpx.AsyncClient, name: str) -> None:
    assert (await client.get(f"/assets/{name}")).status_code == 404


async def test_a_server_without_pages_says_how_to_build_them(
    client: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "STATIC", tmp_path)
    answer = await client.get("/")
    assert answer.status_code == 200
    assert "make ui" in answer.text


def test_the_types_of_the_pages_are_those_of_the_server() -> None:
    assert ui_types.FILE.read_text(encoding="utf-8") == ui_types.render(), (
        "the API changed: run `make ui` and look whether the pages still compile (`make ui-check`)"
    )


def test_the_pages_know_the_addresses_that_the_server_answers() -> None:
    source = (Path(__file__).parents[2] / "ui" / "src" / "pages" / "routes.ts").read_text(encoding="utf-8")
    patterns = {found.replace("\\/", "/") for found in re.findall(r"\[/\^(.*?)\$/,", source)}
    assert patterns == {path.replace("{id}", "([^/]+)") for path in pages.PAGES}
