-- The whole schema. Tenant tables begin their keys with project_id, so that they distribute by it;
-- ids and timestamps are given by the application; there are no triggers.

CREATE TABLE kb.embedding_spaces (
    id          uuid        NOT NULL PRIMARY KEY,
    provider    text        NOT NULL,
    model       text        NOT NULL,
    dimensions  integer     NOT NULL CHECK (dimensions BETWEEN 1 AND 4000),
    created_at  timestamptz NOT NULL,
    UNIQUE (provider, model, dimensions)
);

CREATE TABLE kb.projects (
    id          uuid        NOT NULL PRIMARY KEY,
    name        text        NOT NULL UNIQUE,
    description text,
    config      jsonb       NOT NULL DEFAULT '{}',
    space_id    uuid        REFERENCES kb.embedding_spaces (id),
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL
);

CREATE TABLE kb.api_keys (
    id          uuid        NOT NULL PRIMARY KEY,
    project_id  uuid        REFERENCES kb.projects (id) ON DELETE CASCADE,
    name        text        NOT NULL,
    prefix      text        NOT NULL UNIQUE,
    sha256      bytea       NOT NULL,
    scope       text        NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    created_at  timestamptz NOT NULL,
    revoked_at  timestamptz
);
CREATE INDEX api_keys_project ON kb.api_keys (project_id);

CREATE TABLE kb.documents (
    project_id     uuid        NOT NULL REFERENCES kb.projects (id) ON DELETE CASCADE,
    id             uuid        NOT NULL,
    name           text        NOT NULL,
    origin         text,
    mime           text        NOT NULL,
    size           bigint      NOT NULL,
    sha256         bytea       NOT NULL,
    text           text,
    page_map       jsonb,
    metadata       jsonb       NOT NULL DEFAULT '{}',
    current_job_id uuid,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    UNIQUE (project_id, sha256)
);
CREATE INDEX documents_id ON kb.documents (id);

CREATE TABLE kb.jobs (
    project_id     uuid        NOT NULL,
    id             uuid        NOT NULL,
    document_id    uuid        NOT NULL,
    type           text        NOT NULL CHECK (type IN ('document_processing', 'extraction')),
    name           text        NOT NULL,
    status         text        NOT NULL
                   CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'cancelled')),
    stage          text,
    done           integer     NOT NULL DEFAULT 0,
    total          integer,
    attempts       integer     NOT NULL DEFAULT 0,
    config         jsonb       NOT NULL DEFAULT '{}',
    error_details  jsonb,
    schema_number  integer,
    file_name      text        NOT NULL,
    file_type      text        NOT NULL,
    file_size      bigint      NOT NULL,
    created_at     timestamptz NOT NULL,
    started_at     timestamptz,
    completed_at   timestamptz,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, document_id) REFERENCES kb.documents (project_id, id) ON DELETE CASCADE
);
CREATE INDEX jobs_id ON kb.jobs (id);
CREATE INDEX jobs_document ON kb.jobs (project_id, document_id);

CREATE TABLE kb.chunks (
    project_id   uuid        NOT NULL,
    id           uuid        NOT NULL,
    document_id  uuid        NOT NULL,
    job_id       uuid        NOT NULL,
    chunk_index  integer     NOT NULL CHECK (chunk_index >= 0),
    content      text        NOT NULL,
    content_hash bytea       NOT NULL,
    metadata     jsonb,
    lexemes      tsvector,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    UNIQUE (project_id, document_id, chunk_index),
    FOREIGN KEY (project_id, document_id) REFERENCES kb.documents (project_id, id) ON DELETE CASCADE,
    FOREIGN KEY (project_id, job_id) REFERENCES kb.jobs (project_id, id) ON DELETE CASCADE
);
CREATE INDEX chunks_id ON kb.chunks (id);
CREATE INDEX chunks_job ON kb.chunks (project_id, job_id, chunk_index);
CREATE INDEX chunks_lexemes ON kb.chunks USING gin (lexemes);

-- Narrow rows of half-precision vectors stay out of TOAST. The HNSW index of a space is made when the space is.
CREATE TABLE kb.chunk_vectors (
    project_id uuid    NOT NULL,
    id         uuid    NOT NULL,
    space_id   uuid    NOT NULL REFERENCES kb.embedding_spaces (id),
    embedding  halfvec NOT NULL,
    PRIMARY KEY (project_id, id, space_id),
    FOREIGN KEY (project_id, id) REFERENCES kb.chunks (project_id, id) ON DELETE CASCADE
);

CREATE TABLE kb.schemas (
    project_id uuid        NOT NULL REFERENCES kb.projects (id) ON DELETE CASCADE,
    number     integer     NOT NULL CHECK (number >= 1),
    version    text        NOT NULL GENERATED ALWAYS AS ('v'::text || number::text) STORED,
    sha256     bytea       NOT NULL,
    body       jsonb       NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (project_id, number)
);

CREATE TABLE kb.graph_objects (
    project_id uuid        NOT NULL REFERENCES kb.projects (id) ON DELETE CASCADE,
    id         uuid        NOT NULL,
    type       text        NOT NULL,
    name       text        NOT NULL,
    name_key   text        NOT NULL,
    properties jsonb       NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    UNIQUE (project_id, type, name_key)
);
CREATE INDEX graph_objects_id ON kb.graph_objects (id);

CREATE TABLE kb.object_vectors (
    project_id uuid    NOT NULL,
    id         uuid    NOT NULL,
    space_id   uuid    NOT NULL REFERENCES kb.embedding_spaces (id),
    embedding  halfvec NOT NULL,
    PRIMARY KEY (project_id, id, space_id),
    FOREIGN KEY (project_id, id) REFERENCES kb.graph_objects (project_id, id) ON DELETE CASCADE
);

CREATE TABLE kb.relationships (
    project_id uuid        NOT NULL,
    id         uuid        NOT NULL,
    type       text        NOT NULL,
    source_id  uuid        NOT NULL,
    target_id  uuid        NOT NULL,
    properties jsonb       NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    UNIQUE (project_id, source_id, type, target_id),
    FOREIGN KEY (project_id, source_id) REFERENCES kb.graph_objects (project_id, id) ON DELETE CASCADE,
    FOREIGN KEY (project_id, target_id) REFERENCES kb.graph_objects (project_id, id) ON DELETE CASCADE
);
CREATE INDEX relationships_id ON kb.relationships (id);
CREATE INDEX relationships_target ON kb.relationships (project_id, target_id);

CREATE TABLE kb.object_provenance (
    project_id     uuid        NOT NULL,
    id             uuid        NOT NULL,
    object_id      uuid        NOT NULL,
    chunk_id       uuid        NOT NULL,
    property_name  text        NOT NULL,
    operation      text        NOT NULL CHECK (operation IN ('created', 'updated')),
    schema_number  integer     NOT NULL,
    schema_version text        NOT NULL GENERATED ALWAYS AS ('v'::text || schema_number::text) STORED,
    value          jsonb,
    quote          text,
    start_offset   integer,
    end_offset     integer,
    extracted_at   timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    CONSTRAINT uq_object_chunk_property UNIQUE (project_id, object_id, chunk_id, property_name),
    FOREIGN KEY (project_id, object_id) REFERENCES kb.graph_objects (project_id, id) ON DELETE CASCADE,
    FOREIGN KEY (project_id, chunk_id) REFERENCES kb.chunks (project_id, id) ON DELETE CASCADE
);
CREATE INDEX idx_provenance_object ON kb.object_provenance (project_id, object_id);
CREATE INDEX idx_provenance_chunk ON kb.object_provenance (project_id, chunk_id);
CREATE INDEX idx_provenance_schema ON kb.object_provenance (project_id, schema_number);

CREATE TABLE kb.relationship_provenance (
    project_id      uuid        NOT NULL,
    id              uuid        NOT NULL,
    relationship_id uuid        NOT NULL,
    chunk_id        uuid        NOT NULL,
    schema_number   integer     NOT NULL,
    quote           text,
    start_offset    integer,
    end_offset      integer,
    extracted_at    timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    UNIQUE (project_id, relationship_id, chunk_id),
    FOREIGN KEY (project_id, relationship_id) REFERENCES kb.relationships (project_id, id) ON DELETE CASCADE,
    FOREIGN KEY (project_id, chunk_id) REFERENCES kb.chunks (project_id, id) ON DELETE CASCADE
);
CREATE INDEX relationship_provenance_chunk ON kb.relationship_provenance (project_id, chunk_id);

-- One row for each time a chunk was read for extraction, also when it yielded nothing: resume and "stale" are exact.
CREATE TABLE kb.chunk_extractions (
    project_id        uuid        NOT NULL,
    chunk_id          uuid        NOT NULL,
    job_id            uuid        NOT NULL,
    schema_number     integer     NOT NULL,
    outcome           text        NOT NULL CHECK (outcome IN ('extracted', 'empty', 'failed')),
    reason            text,
    prompt_tokens     integer     NOT NULL DEFAULT 0,
    completion_tokens integer     NOT NULL DEFAULT 0,
    extracted_at      timestamptz NOT NULL,
    PRIMARY KEY (project_id, chunk_id, job_id),
    FOREIGN KEY (project_id, chunk_id) REFERENCES kb.chunks (project_id, id) ON DELETE CASCADE,
    FOREIGN KEY (project_id, job_id) REFERENCES kb.jobs (project_id, id) ON DELETE CASCADE
);
CREATE INDEX chunk_extractions_job ON kb.chunk_extractions (project_id, job_id);
