-- What a person says about the graph: values that were set, claims that were rejected, and what was undone. Rows are never
-- deleted. The object is identified by its type and its name, because it may go and come back. `schema_number` is the newest
-- schema of its claims at that time: later schemas rename its type and its properties.
CREATE TABLE kb.curations (
    project_id        uuid        NOT NULL REFERENCES kb.projects (id) ON DELETE CASCADE,
    id                uuid        NOT NULL,
    action            text        NOT NULL CHECK (action IN ('set', 'reject', 'undo')),
    subject           text        NOT NULL CHECK (subject IN ('object', 'property', 'claim', 'relationship')),
    type              text        NOT NULL,
    name              text        NOT NULL,
    name_key          text        NOT NULL,
    property_name     text,
    value             jsonb,
    relationship_type text,
    target_type       text,
    target_name       text,
    target_key        text,
    undoes            uuid,
    author            text        NOT NULL,
    reason            text,
    schema_number     integer     NOT NULL,
    created_at        timestamptz NOT NULL,
    undone_at         timestamptz,
    PRIMARY KEY (project_id, id)
);
CREATE INDEX curations_id ON kb.curations (id);
CREATE INDEX curations_object ON kb.curations (project_id, type, name_key);
CREATE INDEX curations_target ON kb.curations (project_id, target_type, target_key) WHERE target_key IS NOT NULL;

-- The texts whose claims a rejection rejects. Without a property and a relationship: all claims about the object. Without a
-- value: every value of the property.
CREATE TABLE kb.rejected_texts (
    project_id        uuid    NOT NULL,
    id                uuid    NOT NULL,
    curation_id       uuid    NOT NULL,
    content_hash      bytea   NOT NULL,
    type              text    NOT NULL,
    name_key          text    NOT NULL,
    property_name     text,
    value             jsonb,
    relationship_type text,
    target_type       text,
    target_key        text,
    schema_number     integer NOT NULL,
    is_active         boolean NOT NULL DEFAULT true,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, curation_id) REFERENCES kb.curations (project_id, id) ON DELETE CASCADE
);
CREATE INDEX rejected_texts_hash ON kb.rejected_texts (project_id, content_hash);
CREATE INDEX rejected_texts_curation ON kb.rejected_texts (project_id, curation_id);
CREATE INDEX rejected_texts_object ON kb.rejected_texts (project_id, type, name_key);

-- Rejected claims, until the rejection is undone or their chunk is deleted.
CREATE TABLE kb.rejected_claims (
    LIKE kb.hidden_claims INCLUDING DEFAULTS,
    type     text NOT NULL,
    name     text NOT NULL,
    name_key text NOT NULL,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, chunk_id) REFERENCES kb.chunks (project_id, id) ON DELETE CASCADE
);
CREATE INDEX rejected_claims_chunk ON kb.rejected_claims (project_id, chunk_id);
CREATE INDEX rejected_claims_object ON kb.rejected_claims (project_id, type, name_key);
CREATE TABLE kb.rejected_relationship_claims (
    LIKE kb.hidden_relationship_claims INCLUDING DEFAULTS,
    source_type text NOT NULL,
    source_name text NOT NULL,
    source_key  text NOT NULL,
    target_type text NOT NULL,
    target_name text NOT NULL,
    target_key  text NOT NULL,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, chunk_id) REFERENCES kb.chunks (project_id, id) ON DELETE CASCADE
);
CREATE INDEX rejected_relationship_claims_chunk ON kb.rejected_relationship_claims (project_id, chunk_id);
