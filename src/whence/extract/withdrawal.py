"""Finds the earlier claims of a chunk to withdraw: the new reading left them out, and the text does not contain them. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from whence.chunk_findings import FoundObject, FoundRelationship
from whence.extract.context import EarlierClaim, EarlierTie, KnownObject
from whence.extract.evidence import ChunkEvidence
from whence.extract.links import Ref, mention_of
from whence.extract.mentions import Mentions
from whence.extract.values import is_among, same
from whence.models import ClaimKey, TieKey
from whence.text.content_words import words
from whence.text.names import name_key


def withdraw(
    earlier: Sequence[EarlierClaim],
    seen: Sequence[KnownObject],
    found: Mapping[Ref, FoundObject],
    repeated: Mapping[ClaimKey, Any],
    *,
    evidence: ChunkEvidence,
    mentions: Mentions,
) -> tuple[ClaimKey, ...]:
    """The earlier claims about seen objects that the reply neither replaces nor repeats and the text does not contain."""
    given = {(ref, name) for ref, each in found.items() for name in each.properties}
    by_id = {each.id: each for each in seen}

    def is_stated(claim: EarlierClaim) -> bool:
        if claim.property_name != "name":
            return evidence.place(claim.value, of=claim.name) is not None
        known = by_id[claim.object_id]
        return evidence.of_name(claim.name) == "primary" or mentions.find(known.type, known.name) is not None

    return tuple(
        (each.said_of, each.property_name)
        for each in earlier
        if each.object_id in by_id
        and each.claimed not in given
        and not _is_repeated(each.value, repeated.get(each.claimed))
        and not is_stated(each)
    )


def withdraw_ties(
    earlier: Sequence[EarlierTie],
    seen: Sequence[KnownObject],
    found: Sequence[FoundRelationship],
    *,
    evidence: ChunkEvidence,
    mentions: Mentions,
) -> tuple[TieKey, ...]:
    """The earlier relationships of seen objects that the reply does not repeat and the text does not state.

    The text states a relationship if it contains its quote, unless the quote is only the two names, or if it mentions both ends
    and contains the words of its type.
    """
    by_id = {each.id: each for each in seen}

    def is_stated(tie: EarlierTie) -> bool:
        if tie.quote is not None and evidence.has(tie.quote) and _says_more(tie):
            return True
        source, target = by_id[tie.source_id], by_id[tie.target_id]
        ends = ((source.type, tie.source_name), (target.type, tie.target_name))
        one, other = (mention_of(*end, evidence, mentions) for end in ends)
        return bool(one and other) and evidence.has_words(tie.type.replace("_", " "))

    def is_repeated(tie: EarlierTie) -> bool:
        return any(
            each.type == tie.type
            and _is_end(each.source, tie.source_id, tie.said_source, tie.source_name)
            and _is_end(each.target, tie.target_id, tie.said_target, tie.target_name)
            for each in found
        )

    return tuple(
        (each.type, each.said_source, each.said_target)
        for each in earlier
        if {each.source_id, each.target_id} <= by_id.keys() and not is_repeated(each) and not is_stated(each)
    )


def _says_more(tie: EarlierTie) -> bool:
    return not set(words(tie.quote or "")) <= {*words(tie.source_name), *words(tie.target_name)}


def _is_end(ref: Ref, *same_as: object) -> bool:
    """Whether the reference is one of these ids, or a new object with the last of them as its name."""
    *ids, name = same_as
    return ref in ids or (isinstance(ref, tuple) and ref[1] == name_key(str(name)))


def _is_repeated(value: Any, repeated: Any) -> bool:
    if isinstance(value, list):
        return all(is_among(item, repeated) for item in value)
    return same(value, repeated)
