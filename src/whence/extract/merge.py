"""Turns a model's proposals into claims of the primary chunk. Pure: the same input gives the same outcome.

`docs/extraction.md` has the rules as tables. A proposal adds to the known object with its id, or its type and name. A value that the
object already has is an echo and changes nothing; a different value is an update, and the older claim stays recorded.

Grounding. A value in the primary chunk is accepted with its quote, a description that paraphrases one of its sentences with that
sentence. A specific value (a figure, a name, three words) that the chunk does not have is rejected: `context_only` if the context has
it, else `ungrounded`; a lenient project keeps the latter and marks it. The same holds for the name of a new object. A common word,
a boolean or a choice of the schema may be an interpretation: it is accepted without a quote, unless only the context has the
object's name. The context is the other chunks and the other known objects in the prompt. Items of lists and properties of
relationships are judged one by one.

Confirmation. Without a mention in the reply, the chunk becomes a further source of a known object that it names, and of a known value
whose sentence it repeats. A sentence about the object also confirms a specific value, or one of three content words. A known
relationship is confirmed if the chunk repeats the words of another that states it. A proposal without an `id` may also confirm a
common word that the chunk has. A confirmation repeats the known value and changes nothing now, but may outlive the first source.

Reading again. What the chunk claimed before, and its text still has, counts as read again. What it does not have is withdrawn if the
model was shown the object, or both ends of the relationship, and does not repeat it.

Everything that is not accepted, except echoes, becomes a rejection with its reason.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whence.chunk_findings import (
    FoundAlias,
    FoundObject,
    FoundRelationship,
    FoundValue,
)
from whence.extract.context import ChunkText, EarlierClaim, EarlierTie, KnownClaim, KnownObject, KnownTie
from whence.extract.drafts import Drafts
from whence.extract.evidence import ChunkEvidence
from whence.extract.grounding import FoundQuote, place_of
from whence.extract.judge import Judge, accumulates, elements_of
from whence.extract.links import Node, Ref, confirm_ties, link
from whence.extract.mentions import Mentions
from whence.extract.rejections import Rejected, Rejection
from whence.extract.reply import ExtractionReply
from whence.extract.schema import ObjectType, Schema
from whence.extract.values import accumulate
from whence.extract.withdrawal import withdraw, withdraw_ties
from whence.models import ClaimKey, TieKey
from whence.text.aliases import TypedName


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    objects: tuple[FoundObject, ...] = ()
    """New objects by key and known ones by id, each with new values and with known values that this chunk also states."""
    relationships: tuple[FoundRelationship, ...] = ()
    aliases: tuple[FoundAlias, ...] = ()
    withdrawn: tuple[ClaimKey, ...] = ()
    """Earlier claims of the chunk that do not hold."""
    withdrawn_ties: tuple[TieKey, ...] = ()
    rejections: tuple[Rejection, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the chunk adds nothing to the graph."""
        found = (value for each in self.objects for value in each.properties.values())
        return all(value.is_confirmed for value in found) and all(
            each.is_confirmed for each in self.relationships
        )


def merge(
    *,
    schema: Schema,
    known: Sequence[KnownObject],
    primary: ChunkText,
    context: Sequence[str],
    reply: ExtractionReply,
    shown: Sequence[KnownObject] | None = None,
    earlier: Sequence[EarlierClaim] = (),
    earlier_ties: Sequence[EarlierTie] = (),
    known_ties: Sequence[KnownTie] = (),
    known_claims: Sequence[KnownClaim] = (),
    blind: bool = False,
    lenient: bool = False,
    preceding: str = "",
) -> Outcome:
    """`known` are the objects in the context. Any other id, such as one of another project, is unknown.

    `shown` are the known objects that fitted into the prompt, by default all. `earlier` are the claims of the chunk's last reading.
    `blind`: the extractor did not see known values. `lenient`: specific values in no text are kept. `preceding` is the chunk before.
    """
    seen = () if blind else known if shown is None else shown
    evidence = ChunkEvidence(primary.text, context, seen, known_claims, lenient=lenient)
    drafts = Drafts(schema, known, reply.objects)
    named = [TypedName(each.type, each.name) for each in drafts.all()]
    mentions = Mentions(
        primary.text, context, before=preceding, known=known, proposed=named, find=evidence.find
    )
    evidence.tell_apart([*(TypedName(each.type, each.name) for each in known), *named], mentions)
    accepted, repeated, refused = _judge(drafts, schema, evidence, mentions, blind=blind)
    nodes = [*_new_nodes(accepted), *_known_nodes(known, accepted)]
    relationships, unlinked = link(
        reply.relationships, nodes, schema=schema, evidence=evidence, mentions=mentions
    )
    found = _add_stated(accepted, known, earlier, schema=schema, evidence=evidence, mentions=mentions)
    again = confirm_ties(known_ties, known, schema.relationship_types, evidence, mentions)
    said = {*(each.key for each in relationships), *(each.key for each in earlier_ties)}
    meant = {*accepted, *(end for each in relationships for end in (each.source, each.target))}
    if reply.is_cut:  # missing values may have been cut off
        earlier, earlier_ties = (), ()
    return Outcome(
        objects=tuple(found.values()),
        relationships=(*relationships, *(each for each in again if each.key not in said)),
        aliases=mentions.aliases((each.type, each.name_key) for each in nodes if each.ref in meant),
        withdrawn=withdraw(earlier, seen, found, repeated, evidence=evidence, mentions=mentions),
        withdrawn_ties=withdraw_ties(
            earlier_ties, seen, (*relationships, *again), evidence=evidence, mentions=mentions
        ),
        rejections=(*reply.dropped, *drafts.rejections, *refused, *unlinked),
    )


def _judge(
    drafts: Drafts, schema: Schema, evidence: ChunkEvidence, mentions: Mentions, *, blind: bool
) -> tuple[dict[Ref, FoundObject], dict[ClaimKey, Any], list[Rejection]]:
    """The accepted objects, the known values that the reply repeats, and the rejections."""
    accepted: dict[Ref, FoundObject] = {}
    repeated: dict[ClaimKey, Any] = {}
    rejections: list[Rejection] = []
    for draft in drafts.all():
        judge = Judge(draft, schema.object_types[draft.type], evidence, mentions, blind=blind)
        try:
            ref, judged = judge.judge_new() if draft.known is None else judge.judge_known(draft.known)
            accepted |= {ref: judged} if judged.properties else {}
            repeated |= judge.repeated
            rejections += judge.rejections
        except Rejected as rejected:
            rejections += [*judge.rejections, *map(rejected.at, draft.wheres)]
    return accepted, repeated, rejections


def _new_nodes(accepted: Mapping[Ref, FoundObject]) -> list[Node]:
    return [
        Node(*each.key, name=each.name or "", ref=each.key, is_touched=True)
        for each in accepted.values()
        if each.key
    ]


def _known_nodes(known: Sequence[KnownObject], accepted: Collection[Ref]) -> list[Node]:
    return [Node(each.type, each.name_key, each.name, each.id, each.id in accepted) for each in known]


def _add_stated(
    accepted: Mapping[Ref, FoundObject],
    known: Sequence[KnownObject],
    earlier: Sequence[EarlierClaim],
    *,
    schema: Schema,
    evidence: ChunkEvidence,
    mentions: Mentions,
) -> dict[Ref, FoundObject]:
    """The accepted objects, and the known objects and values that the chunk states but the reply does not mention."""
    found = dict(accepted)
    before = {each.claimed for each in earlier}
    own = {
        claim.claimed: [item for item in claim.value if evidence.place(item, of=claim.name)]
        for claim in earlier
        if isinstance(claim.value, list)
    }
    for each in known:
        if each.type not in schema.object_types:
            continue
        kind = schema.object_types[each.type]
        named = evidence.naming(each, known) or mentions.alias(each.type, each.name)
        stated = _confirm(each, named, kind, evidence)
        said = found.get(each.id, FoundObject(id=each.id))
        lists = {
            name: _add_elements(
                given, [*own.get((each.id, name), ()), *_items(stated.get(name))], each.name, evidence
            )
            for name, given in said.properties.items()
            if isinstance(given.value, list) and given.is_grounded and accumulates(kind, name)
        }
        stated = {name: stated[name] for name in stated if (each.id, name) not in before}
        if stated or lists:
            found[each.id] = replace(said, properties={**stated, **said.properties, **lists})
    return found


def _confirm(
    known: KnownObject, named: FoundQuote | None, kind: ObjectType, evidence: ChunkEvidence
) -> dict[str, FoundValue]:
    """The name and the values of the object that the primary chunk states; of a list that accumulates, its elements.

    `named` is the name or an alias in the chunk.
    """
    found = {"name": FoundValue(value=known.name, is_confirmed=True, **place_of(named))} if named else {}
    for name, value in known.properties.items():
        items = value if isinstance(value, list) else [value]
        places = [
            (item, evidence.confirming(item, known, name, is_named=named is not None)) for item in items
        ]
        stated = [item for item, span in places if span or evidence.repeats_chunk(item, known, name)]
        if stated and (len(stated) == len(items) or accumulates(kind, name)):
            found[name] = FoundValue(
                value=stated if isinstance(value, list) else value,
                elements=elements_of(stated, evidence, known.name) if isinstance(value, list) else (),
                is_confirmed=True,
                **place_of(next((span for _, span in places if span), None)),
            )
    return found


def _items(found: FoundValue | None) -> list[Any]:
    return found.value if found is not None and isinstance(found.value, list) else []


def _add_elements(given: FoundValue, before: list[Any], name: str, evidence: ChunkEvidence) -> FoundValue:
    """Adds the elements that the chunk claimed before, because a reply has only new ones."""
    value = accumulate(before, given.value)
    return replace(given, value=value, elements=elements_of(value, evidence, name))
