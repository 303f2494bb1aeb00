"""`whence objects` and `whence trace`: for people, for scripts, and with names that nobody would give."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from tests.graphs import picture, require_sound, say, thing, tie, update
from tests.oauth import Told, tell
from tests.samples import AddSample

from whence.chunk_findings import FoundAlias, RejectedProposal
from whence.store import Store

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

HOSTILE = "\x1b]0;title\x07\x1b[31mred\u202e[bold]x[/bold]\nline"


@pytest.fixture
async def told(store: Store) -> Told:
    return await tell(store)


async def test_objects(hosted: "Installation", told: Told) -> None:
    assert [one["name"] for one in hosted.json("objects", "list")] == ["OAuth 2.0", "Gateway"]
    assert [one["name"] for one in hosted.json("objects", "list", "--type=Component")] == ["Gateway"]
    listed = hosted.run("objects", "list", "--limit=1")
    head, line = listed.stdout.splitlines()
    assert head.split() == ["ID", "TYPE", "NAME", "PROPERTIES"]
    assert line.split() == [str(told.oauth), "Requirement", "OAuth", "2.0", "2"]
    assert listed.stderr == "1 of 2; see --limit.\n"

    one = hosted.json("objects", "show", "“oauth  2.0”")
    assert (one["id"], one["claim_count"]) == (str(told.oauth), 5)
    title, _, *rows = hosted.run("objects", "show", str(told.oauth)).stdout.splitlines()
    assert title == f"Requirement OAuth 2.0  {told.oauth}"
    assert [row.split("  ")[0] for row in rows] == [
        "description",
        "expiration",
        "name",
        "Gateway checks OAuth 2.0",
    ]
    assert "1 hour" in rows[1]
    assert "spec.pdf, page 2, chunk 1" in rows[1]


async def test_objects_are_merged_and_told_apart_again(
    hosted: "Installation", told: Told, store: Store, dsn: str
) -> None:
    (other,) = (await say(store, told.chunks[3], thing("SSO", "Requirement"), schema=2)).created
    before = picture(dsn)
    types = hosted.refused("objects", "merge", "OAuth 2.0", "gateway", code=1)
    assert types == "Only objects of the same type can be merged: these are Requirement and Component"
    said = hosted.run("objects", "merge", "OAuth 2.0", "sso").stdout
    assert said.startswith("SSO is OAuth 2.0 now. To undo: whence objects unmerge ")
    ident = said.split()[-1]
    require_sound(dsn)
    assert f"Merged with SSO (merge {ident})." in hosted.run("objects", "show", str(other)).stdout
    again = hosted.refused("objects", "merge", "OAuth 2.0", str(other), code=1)
    assert again == "An object cannot be merged with itself"
    assert hosted.run("objects", "unmerge", ident).stdout == "SSO and OAuth 2.0 are two objects again.\n"
    assert picture(dsn) == before
    assert hosted.refused("objects", "unmerge", ident, code=1) == "Merge not found"


async def test_objects_are_corrected_and_restored(
    hosted: "Installation", told: Told, store: Store, dsn: str
) -> None:
    body: dict[str, Any] = {"object_types": {"Requirement": {}, "Component": {}}}
    await store.schemas.put(told.sample.document.project_id, body=body, sha256=bytes([3]) * 32)
    before = hosted.json("objects", "show", "oauth 2.0")
    why = ("--reason=She knows", "--author=Ada")
    said = hosted.run("objects", "set", "OAuth 2.0", "expiration=2 hours", "scopes=[1, 2]", *why).stdout
    assert said.endswith("To undo: whence objects restore ID\n")
    assert "set OAuth 2.0 expiration: 2 hours" in said
    one = hosted.json("objects", "show", "oauth 2.0")
    assert (one["properties"]["expiration"], one["properties"]["scopes"]) == ("2 hours", [1, 2])
    assert "set by Ada: She knows" in hosted.run("objects", "show", "oauth 2.0").stdout
    assert "must be NAME=VALUE" in hosted.run("objects", "set", "OAuth 2.0", "expiration", code=2).stderr

    claims = hosted.json("trace", "oauth 2.0", "--property=expiration")["sources"]["expiration"]
    assert [claim["operation"] for claim in claims] == ["set", "updated", "created"]
    rejected = hosted.json("objects", "reject", "oauth 2.0", f"--claim={claims[1]['id']}", *why)
    traced = hosted.run("trace", "oauth 2.0", "--property=expiration").stdout
    assert "1 hour (rejected)" in traced
    assert "rejected by Ada: She knows" in traced
    assert "\nscopes " in hosted.run("objects", "show", "oauth 2.0").stdout
    hosted.run("objects", "reject", "oauth 2.0", "--property=scopes")
    assert "\nscopes " not in hosted.run("objects", "show", "oauth 2.0").stdout
    exclusive = ("objects", "reject", "oauth 2.0", "--property=scopes", f"--claim={uuid4()}")
    assert "exclude each other" in hosted.run(*exclusive, code=2).stderr

    hosted.run("objects", "reject", "Gateway")
    assert [one["name"] for one in hosted.json("objects", "list")] == ["OAuth 2.0"]
    entries = hosted.json("objects", "history")
    assert [one["subject"] for one in entries] == ["object", "property", "claim", "property", "property"]
    assert len(hosted.json("objects", "history", "oauth 2.0")) == 4
    for which in ("gateway", "oauth 2.0", rejected[0]["id"], "oauth 2.0", "oauth 2.0"):
        hosted.run("objects", "restore", which)
    after = hosted.json("objects", "show", "oauth 2.0")
    assert (after["properties"], after["sources"]) == (before["properties"], before["sources"])
    nothing = hosted.refused("objects", "restore", "oauth 2.0", code=1)
    assert nothing == "There is no correction of 'oauth 2.0' to undo"
    assert len(hosted.json("objects", "history")) == 10
    require_sound(dsn)


async def test_a_relationship_is_rejected_and_restored(
    hosted: "Installation", told: Told, store: Store, dsn: str
) -> None:
    related = [tie(told.oauth, "guards", told.gateway)]
    await say(store, told.chunks[3], ties=related, schema=2)
    line = next(
        one for one in hosted.run("objects", "show", "gateway").stdout.splitlines() if "guards" in one
    )
    assert line.startswith("OAuth 2.0 guards Gateway  ")
    reject = ("objects", "reject", f"--relationship={line.split()[-1]}")
    said = hosted.run(*reject, "--reason=No", "--author=Ada").stdout
    assert "reject OAuth 2.0 guards Gateway" in said
    assert "guards" not in hosted.run("objects", "show", "gateway").stdout
    assert hosted.refused(*reject, code=1) == "Relationship not found"
    assert "OBJECT" in hosted.run(*reject, "gateway", code=2).stderr
    hosted.run("objects", "restore", "oauth 2.0")
    assert line in hosted.run("objects", "show", "gateway").stdout
    require_sound(dsn)


async def test_the_graph_is_exported(hosted: "Installation", told: Told) -> None:
    lines = [json.loads(line) for line in hosted.run("objects", "export").stdout.splitlines()]
    assert [line["kind"] for line in lines] == ["object", "object", "relationship"]
    assert lines[0]["id"] == str(told.oauth)
    file = hosted.folder / "graph.jsonl"
    assert hosted.run("objects", "export", f"--output={file}").stdout == ""
    assert [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] == lines


async def test_trace_shows_the_way_back(hosted: "Installation", told: Told) -> None:
    lines = [line.strip("│├└─ ") for line in hosted.run("trace", "oauth 2.0").stdout.splitlines()]
    assert lines[0] == f"Requirement OAuth 2.0  {told.oauth}"
    at = lines.index("expiration")
    newer, older = told.sample.ids[1], told.sample.ids[0]
    assert lines[at + 1 : at + 3] == ["1 hour", f"spec.pdf, page 2, chunk 1  {newer}"]
    assert lines[at + 3] == "“1 hour” at 27-33"
    assert lines[at + 4].startswith("schema v2, ")
    assert lines[at + 5 : at + 7] == ["30 minutes (older)", f"spec.pdf, page 1, chunk 0  {older}"]
    assert lines[at + 8].startswith("schema v1, ")

    only = hosted.json("trace", str(told.oauth), "--property=expiration")
    assert list(only["sources"]) == ["expiration"]
    assert [claim["value"] for claim in only["sources"]["expiration"]] == ["1 hour", "30 minutes"]


async def test_trace_shows_what_a_chunk_or_a_document_states(hosted: "Installation", told: Told) -> None:
    document, (first, second, third, last) = str(told.sample.document.id), told.sample.ids
    lines = [line.strip("│├└─ ") for line in hosted.run("trace", document).stdout.splitlines()]
    assert lines[:2] == ["spec.pdf", f"chunk 0, page 1  {first}"]
    assert (
        lines[lines.index("Requirement OAuth 2.0, expiration: 30 minutes (older)") + 1]
        == "“30 minutes” at 49-59"
    )
    assert 'Gateway checks OAuth 2.0: {"how": "every token"}' in lines
    assert [line for line in lines if line.startswith("chunk ")][1:] == [
        f"chunk 1, page 2  {second}",
        f"chunk 2, page 3  {third}",
    ]
    assert hosted.run("trace", second).stdout.splitlines()[0] == "spec.pdf"
    claims = hosted.json("trace", document, "--property=expiration")
    assert [claim["value"] for claim in claims] == ["30 minutes", "1 hour"]
    assert hosted.run("trace", last).stdout == "No claims.\n"
    assert "No claim is about 'colour'" in hosted.run("trace", second, "--property=colour", code=1).stderr


async def test_conflicts_are_listed(hosted: "Installation", told: Told) -> None:
    head, current, older = hosted.run("objects", "conflicts").stdout.splitlines()
    assert head.split() == ["OBJECT", "PROPERTY", "VALUE", "FROM"]
    assert current.split("  ")[0] == "Requirement OAuth 2.0"
    assert [part.strip() for part in current.split("  ") if part][1:] == [
        "expiration",
        "1 hour",
        "spec.pdf, page 2, chunk 1",
        "current",
    ]
    assert older.split("  ")[-1] == "spec.pdf, page 1, chunk 0"
    assert "30 minutes" in older
    (found,) = hosted.json("objects", "conflicts", "--object=oauth 2.0", "--property=expiration")
    assert found["object_id"] == str(told.oauth)
    assert hosted.json("objects", "conflicts", "--type=Component") == []


async def test_suggestions_are_listed_accepted_and_dismissed(
    hosted: "Installation", told: Told, store: Store
) -> None:
    others = [thing(name, "Component") for name in ("Gatewey", "API Manager", "AM")]
    await say(store, told.chunks[3], *others, schema=2)
    head, *rows = hosted.run("objects", "suggestions").stdout.splitlines()
    assert head.split() == ["ID", "TYPE", "KEEP", "DROP", "SCORE", "REASONS"]
    spelling, initials = [[part.strip() for part in row.split("  ") if part] for row in rows]
    assert spelling[1:] == ["Component", "Gateway", "Gatewey", "0.86", "spelling"]
    assert initials[1:] == ["Component", "API Manager", "AM", "0.70", "initials"]
    said = hosted.run("objects", "suggestions", f"--accept={initials[0]}").stdout
    assert said.startswith("AM is API Manager now. To undo: whence objects unmerge ")
    said = hosted.run("objects", "suggestions", f"--dismiss={spelling[0]}").stdout
    assert said == "Gateway and Gatewey are not suggested again.\n"
    assert hosted.json("objects", "suggestions", "--type=Component") == []
    (dismissed,) = hosted.json("objects", "suggestions", "--dismissed")
    said = hosted.run("objects", "suggestions", f"--undo={dismissed['id']}").stdout
    assert said == "Gateway and Gatewey are suggested again.\n"
    assert hosted.json("objects", "suggestions") == [dismissed]
    gone = hosted.refused("objects", "suggestions", f"--accept={uuid4()}", code=1)
    assert gone == "Merge suggestion not found"


async def test_an_object_is_traced_and_corrected_by_its_alias(
    hosted: "Installation", told: Told, store: Store
) -> None:
    alias = FoundAlias(of=told.gateway, alias="GW", start_offset=4, end_offset=6)
    await say(store, told.chunks[3], update(told.gateway, size=1), aliases=[alias])
    assert hosted.run("trace", "GW").stdout.startswith(f"Component Gateway  {told.gateway}")
    assert hosted.json("trace", "gw")["aliases"] == ["GW"]
    assert "Also called GW." in hosted.run("objects", "show", "GW").stdout
    hosted.run("objects", "reject", "GW", "--property=size")
    assert hosted.json("objects", "restore", "gw")[0]["object_name"] == "Gateway"
    nothing = hosted.refused("objects", "restore", "gw", code=1)
    assert nothing == "There is no correction of 'gw' to undo"
    assert hosted.refused("objects", "restore", "nobody", code=1) == "There is no object named 'nobody'"
    hosted.run("objects", "reject", "GW")
    assert hosted.json("objects", "restore", "gw")[0]["object_name"] == "Gateway"
    assert hosted.run("trace", "GW").stdout.startswith(f"Component Gateway  {told.gateway}")
    await say(store, told.chunks[3], thing("GW", "Component"))
    assert hosted.run("trace", "GW").stdout.startswith("Component GW")  # the name goes before an alias


async def test_what_cannot_be_traced(hosted: "Installation", told: Told, store: Store) -> None:
    await say(store, told.chunks[3], thing("Gateway", "Service"))
    several = hosted.refused("trace", "Gateway", code=1)
    assert several.startswith("Several objects are named 'Gateway'; give the id of one: ")
    assert str(told.gateway) in several
    assert hosted.refused("trace", "nothing", code=1) == "There is no object named 'nothing'"
    assert hosted.refused("trace", str(uuid4()), code=1) == "Object not found"
    missing = hosted.run("trace", "OAuth 2.0", "--property=colour", code=1)
    assert "No claim is about 'colour'" in missing.stderr


async def test_nothing_in_the_graph_speaks_to_the_terminal(
    hosted: "Installation", add_sample: AddSample, store: Store
) -> None:
    sample = await add_sample(name=f"{HOSTILE}.pdf")
    written = await say(store, sample.chunks[0], thing(HOSTILE, HOSTILE, **{HOSTILE: HOSTILE}))
    (ident,) = written.created
    for arguments in (["objects", "list"], ["objects", "show", str(ident)], ["trace", str(ident)]):
        said = hosted.run(*arguments).stdout
        assert r"red\u202e[bold]x[/bold] line" in said
        assert not [c for c in said if not c.isprintable() and c != "\n"], arguments


async def test_what_a_job_rejected(hosted: "Installation", store: Store, add_sample: AddSample) -> None:
    sample = await add_sample()
    assert hosted.run("objects", "rejected", str(sample.job.id)).stdout == "Nothing was rejected.\n"
    proposal = RejectedProposal(
        where="objects[0].priority", reason="wrong_value", message="it must be low", proposed=f'"{HOSTILE}"'
    )
    await say(store, sample.chunks[1], outcome="empty", rejected=3, rejections=[proposal])
    said = hosted.run("objects", "rejected", str(sample.job.id)).stdout
    title, first, proposed, more = said.splitlines()
    assert title == f"chunk 1, page 1  {sample.chunks[1].id}"
    assert first == "  objects[0].priority  wrong_value: it must be low"
    assert "red" in proposed
    assert "\x1b" not in said
    assert more == "  and 2 more"
    (reading,) = hosted.json("objects", "rejected", str(sample.job.id))
    assert reading["rejections"] == [asdict(proposal)]
    assert hosted.refused("objects", "rejected", str(uuid4()), code=1) == "Job not found"
