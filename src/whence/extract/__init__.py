"""From chunks to objects and relationships. The core is pure: no database, no model, no clock.

base            what the steps hand to one another
schema          what is looked for                schema_reading  JSON -> schema
schema_diff     what changed between versions     default_schema  what general documents speak of
context         what a model is shown             fence           texts of strangers in a prompt
prompt          what it is asked, and the form of its reply
reply           its reply -> proposals            values, dates   whether a value is what the schema says
merge           proposals -> outcome: merge calls properties for values, links for relationships,
                grounding and evidence for where the primary chunk says so

Around it, what asks the store and the model:

order           jobs are ordered                  run             a job's way, chunk by chunk
gather          the context of a chunk            extractors      the protocol, and the model behind it; registry: others
record          outcome -> what is stored         costs           tokens and money
schema_migration  adapts the graph to a newer schema without a model; changes  the versions between two
estimate, reextract   reading again, and its cost
"""

from whence.extract.context import ContextOptions, ExtractionContext, Fit, LeftOut, fit
from whence.extract.contracts import ChunkText, KnownObject, ObjectKey
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.grounding import Span, ground
from whence.extract.merge import merge
from whence.extract.outcome import NewClaim, NewObject, NewRelationship, Outcome, Ref, Rejection, Update
from whence.extract.prompt import PromptMessage, frame, messages, repaired, reply_schema
from whence.extract.reply import ExtractionReply, proposals, read_reply
from whence.extract.schema import ObjectType, Property, RelationshipType, Schema, version_number
from whence.extract.schema_diff import Diff, Element, diff, needs_model
from whence.extract.schema_reading import read_schema
from whence.text.names import name_key

__all__ = [
    "DEFAULT_SCHEMA",
    "ChunkText",
    "ContextOptions",
    "Diff",
    "Element",
    "ExtractionContext",
    "ExtractionReply",
    "Fit",
    "KnownObject",
    "LeftOut",
    "NewClaim",
    "NewObject",
    "NewRelationship",
    "ObjectKey",
    "ObjectType",
    "Outcome",
    "PromptMessage",
    "Property",
    "Ref",
    "Rejection",
    "RelationshipType",
    "Schema",
    "Span",
    "Update",
    "diff",
    "fit",
    "frame",
    "ground",
    "merge",
    "messages",
    "name_key",
    "needs_model",
    "proposals",
    "read_reply",
    "read_schema",
    "repaired",
    "reply_schema",
    "version_number",
]
