"""Turns chunks into objects and relationships.

Pure modules, without database, model or clock:

schema            object types, properties, relationship types     default_schema  for projects without their own
schema_reading    JSON -> schema, with property_reading            json_schema     validates schemas and values
schema_diff       changes between versions
context           chunks and objects around a chunk, and options   prompt          the prompt from the context that fits, and the
form of the reply reply             reply -> proposals                               values          fits values to the schema
grounding         finds a value in a text                          evidence        whether the primary chunk or only its context
has a value merge             proposals -> claims with quotes; links resolves relationships, rejections has the reasons to_store
outcome -> rows of the store

Modules that use the store or a model:

scheduling        queues jobs, dry run and cost                    run             runs a job, chunk by chunk
context_loader    loads the context of a chunk                     extractors      the protocol, the model extractor, by name
embedding         embeds objects                                   curating        corrections by a person
schema_migration  adapts the graph to a newer schema without a model
"""
