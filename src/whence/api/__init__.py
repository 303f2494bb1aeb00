"""Requests and answers. Each shape is declared once: a model here validates, documents (OpenAPI) and encodes it.

base         the base classes, the envelope, lists              values      types of single fields
file_types   types of files as filters name them
reading      a request -> a model, or the error to answer with
projects · schemas · documents · ingest · jobs · chunks · chunking · search · chat · conversations · completions · graph · health
graph_export the whole graph as a file

Requests take camelCase and snake_case. Answers about stored things (projects, schemas, documents, jobs, chunks, the graph)
are in snake_case; answers to actions and questions (ingest, extraction, preview, search, chat, conversations) are in camelCase.
"""
