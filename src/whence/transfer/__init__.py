"""Moves knowledge in and out: bundles of projects, lines of JSON, working directories of LightRAG."""
