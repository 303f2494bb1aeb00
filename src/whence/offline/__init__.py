"""Readers that need no model. They implement the protocols that models implement.

rules   the extractor: headings, pairs, tables, definitions, identifiers, people and dates
"""
