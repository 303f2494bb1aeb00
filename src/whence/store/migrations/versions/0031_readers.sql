-- The model or extractor that read the chunk. Null for readings before this column.
ALTER TABLE kb.chunk_extractions ADD COLUMN reader text;
