-- Earlier versions of documents, for links that were made under them. `text` is null where the next version has the same.
-- The chunks are given in reading order; one whose text stays keeps its id.
CREATE TABLE kb.document_versions (
    project_id   uuid        NOT NULL,
    document_id  uuid        NOT NULL,
    version      integer     NOT NULL,
    version_at   timestamptz NOT NULL,
    text         text,
    chunk_ids    uuid[]      NOT NULL,
    chunk_starts integer[]   NOT NULL,
    PRIMARY KEY (project_id, document_id, version),
    FOREIGN KEY (project_id, document_id) REFERENCES kb.documents (project_id, id) ON DELETE CASCADE
);
