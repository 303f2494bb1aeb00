"""Requests and answers, each shape once: a model here validates, documents (OpenAPI) and encodes.

base         the base classes, the envelope, lists              values      types of single fields
reading      a request -> a model, or the error to answer with
projects · schemas · documents · ingest · jobs · chunks · chunking · search · chat · conversations · completions · graph · health
graph_export the whole graph as a file

Requests take camelCase and snake_case. Answers about stored things (projects, schemas, documents, jobs, chunks, the graph)
are in snake_case; answers to orders and questions (ingest, extraction, preview, search, chat, conversations) are in camelCase.
"""
