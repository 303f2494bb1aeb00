"""Aliases of objects: they belong to whoever has the claims of the object, and go with their chunks."""

from uuid import UUID

from tests.graphs import key, require_sound, say, thing
from tests.samples import AddSample

from whence.chunk_findings import FoundAlias
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.models import ObjectKey
from whence.store import Store
from whence.store.graph.schema_moves import TypeMove


def called(alias: str, of: UUID | ObjectKey) -> FoundAlias:
    return FoundAlias(of=of, alias=alias, start_offset=0, end_offset=len(alias))


async def aliases(store: Store, name: str) -> list[str]:
    (found,) = await store.graph.objects.named(PROJECT, [name])
    return list(found.aliases)


async def test_each_is_shown_once_however_it_is_spelled_and_never_the_name_itself(
    store: Store, add_sample: AddSample
) -> None:
    one, two = (await add_sample()).chunks[:2]
    made = [called(alias, key("Alpha Beta")) for alias in ("AB", "Beta", "alpha beta")]
    (ident,) = (await say(store, one, thing("Alpha Beta"), aliases=made)).objects
    assert ident is not None
    await say(store, two, thing("Alpha Beta"), aliases=[called("ab", ident), called("AB", ident)])
    assert await aliases(store, "alpha beta") == ["AB", "Beta"]


async def test_in_a_text_an_alias_that_is_no_abbreviation_has_its_own_spelling(
    store: Store, add_sample: AddSample
) -> None:
    (one, *_) = (await add_sample()).chunks
    made = [called(alias, key("Alpha Beta")) for alias in ("AB", "Beta")]
    await say(store, one, thing("Alpha Beta"), thing("Beta", "Letter"), aliases=made)
    objects = store.graph.objects

    async def named(text: str, *keys: str) -> list[str]:
        return [each.name for each in await objects.named(PROJECT, keys, text=text)]

    assert await named("what is ab?", "ab") == ["Alpha Beta"]
    assert await named("a beta test", "beta") == ["Beta"]
    assert await named("the Beta", "beta") == ["Beta", "Alpha Beta"]  # its own name goes before an alias


async def test_they_follow_an_object_that_becomes_its_namesake_of_another_type(
    store: Store, add_sample: AddSample, dsn: str
) -> None:
    one, two = (await add_sample()).chunks[:2]
    await say(store, one, thing("A"), aliases=[called("AA", key("A")), called("AB", key("A"))])
    await say(store, two, thing("A", "Item"), schema=2, aliases=[called("AC", key("A", "Item"))])
    await store.graph.schema_moves.apply(PROJECT, TypeMove(type="Thing", new_type="Item"), schema_number=2)
    assert await aliases(store, "a") == ["AA", "AB", "AC"]
    require_sound(dsn)


async def test_nothing_crosses_projects(store: Store, add_sample: AddSample) -> None:
    (one, *_) = (await add_sample()).chunks
    await say(store, one, thing("A"), aliases=[called("AA", key("A"))])
    assert await store.graph.objects.named(UUID(int=5), ["aa"]) == []
    found, _ = await store.graph.objects.page(UUID(int=5), name="aa", limit=9, offset=0)
    assert found == []
