"""Turns chunks into objects and relationships.

Pure modules, without database, model or clock:

contracts         values that the steps exchange    schema          object types, properties, relationship types
schema_reading    JSON -> schema                    default_schema  for projects without their own
schema_diff       changes between versions          fence           delimits document text in a prompt
context           what fits into a prompt           prompt          the prompt and the JSON Schema of the reply
reply             reply -> proposals                values          reads values as the schema types them
merge             proposals -> outcome. properties fits values, links resolves relationships,
                  grounding and evidence find the words in the primary chunk.
to_store          outcome -> rows of the store      costs           tokens and money

Modules that use the store or a model:

scheduling        queues jobs                       run             runs a job, chunk by chunk
context_loader    loads the context of a chunk      extractors      the protocol, and the model extractor
embedding         embeds objects                    registry        extractors by name
schema_migration  adapts the graph to a newer schema without a model
schema_history    the versions between two          estimate, reextract  re-extraction and its cost
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
