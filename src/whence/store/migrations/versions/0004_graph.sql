-- `said_of` is the object that the chunk spoke of. It differs from the object that has the claim when a person merged the
-- two: to undo the merge is to give each claim back to whom it was said of.
ALTER TABLE kb.object_provenance ADD COLUMN said_of uuid;
UPDATE kb.object_provenance SET said_of = object_id;
ALTER TABLE kb.object_provenance ALTER COLUMN said_of SET NOT NULL;
CREATE INDEX object_provenance_said_of ON kb.object_provenance (project_id, said_of);
CREATE INDEX object_provenance_newest
    ON kb.object_provenance (project_id, object_id, property_name, extracted_at DESC, id DESC);

ALTER TABLE kb.relationship_provenance
    ADD COLUMN said_source uuid,
    ADD COLUMN said_target uuid,
    ADD COLUMN properties jsonb NOT NULL DEFAULT '{}';
UPDATE kb.relationship_provenance p SET said_source = r.source_id, said_target = r.target_id
FROM kb.relationships r WHERE r.project_id = p.project_id AND r.id = p.relationship_id;
ALTER TABLE kb.relationship_provenance
    ALTER COLUMN said_source SET NOT NULL,
    ALTER COLUMN said_target SET NOT NULL;
CREATE INDEX relationship_provenance_said_source ON kb.relationship_provenance (project_id, said_source);
CREATE INDEX relationship_provenance_said_target ON kb.relationship_provenance (project_id, said_target);

CREATE INDEX graph_objects_name ON kb.graph_objects (project_id, name_key text_pattern_ops);
CREATE INDEX relationships_type ON kb.relationships (project_id, type, id);

-- The object that a person said is another: its row as it was, so that it can come back. What is said of its name later is
-- said of `object_id`; `into_id` is the object it was merged into, which may have been merged itself since.
CREATE TABLE kb.object_merges (
    project_id uuid        NOT NULL,
    id         uuid        NOT NULL,
    object_id  uuid        NOT NULL,
    into_id    uuid        NOT NULL,
    dropped_id uuid        NOT NULL,
    type       text        NOT NULL,
    name       text        NOT NULL,
    name_key   text        NOT NULL,
    space_id   uuid        REFERENCES kb.embedding_spaces (id),
    embedding  halfvec,
    created_at timestamptz NOT NULL,
    merged_at  timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    UNIQUE (project_id, type, name_key),
    UNIQUE (project_id, dropped_id),
    FOREIGN KEY (project_id, object_id) REFERENCES kb.graph_objects (project_id, id) ON DELETE CASCADE
);
CREATE INDEX object_merges_id ON kb.object_merges (id);
CREATE INDEX object_merges_object ON kb.object_merges (project_id, object_id);
CREATE INDEX object_merges_into ON kb.object_merges (project_id, into_id);

-- Where one chunk says the same property of two objects that were merged, one claim stands and the other waits here.
CREATE TABLE kb.hidden_claims (
    project_id    uuid        NOT NULL,
    id            uuid        NOT NULL,
    said_of       uuid        NOT NULL,
    chunk_id      uuid        NOT NULL,
    property_name text        NOT NULL,
    operation     text        NOT NULL,
    schema_number integer     NOT NULL,
    value         jsonb,
    quote         text,
    start_offset  integer,
    end_offset    integer,
    extracted_at  timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, chunk_id) REFERENCES kb.chunks (project_id, id) ON DELETE CASCADE
);
CREATE INDEX hidden_claims_said_of ON kb.hidden_claims (project_id, said_of);
CREATE INDEX hidden_claims_chunk ON kb.hidden_claims (project_id, chunk_id);

-- The same for relationships; also those between the two objects themselves.
CREATE TABLE kb.hidden_relationship_claims (
    project_id    uuid        NOT NULL,
    id            uuid        NOT NULL,
    type          text        NOT NULL,
    said_source   uuid        NOT NULL,
    said_target   uuid        NOT NULL,
    chunk_id      uuid        NOT NULL,
    schema_number integer     NOT NULL,
    properties    jsonb       NOT NULL,
    quote         text,
    start_offset  integer,
    end_offset    integer,
    extracted_at  timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, chunk_id) REFERENCES kb.chunks (project_id, id) ON DELETE CASCADE
);
CREATE INDEX hidden_relationship_claims_source ON kb.hidden_relationship_claims (project_id, said_source);
CREATE INDEX hidden_relationship_claims_target ON kb.hidden_relationship_claims (project_id, said_target);
CREATE INDEX hidden_relationship_claims_chunk ON kb.hidden_relationship_claims (project_id, chunk_id);
