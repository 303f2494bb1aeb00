-- What was not taken over of what a model proposed: how many proposals, and the first of them, each with its place in the
-- reply, the reason and the words.
ALTER TABLE kb.chunk_extractions
    ADD COLUMN rejected integer NOT NULL DEFAULT 0,
    ADD COLUMN rejections jsonb NOT NULL DEFAULT '[]';
