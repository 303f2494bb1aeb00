-- A name is unique among the projects of those who may see them all. A key of one project may give it any name:
-- `named_by` is then the project itself, so that nobody learns which names others have.
ALTER TABLE kb.projects ADD COLUMN named_by uuid;
ALTER TABLE kb.projects DROP CONSTRAINT projects_name_key;
ALTER TABLE kb.projects ADD CONSTRAINT projects_name UNIQUE NULLS NOT DISTINCT (name, named_by);

-- Null: the settings decide; 0: no limit.
ALTER TABLE kb.api_keys
    ADD COLUMN requests_per_minute integer,
    ADD COLUMN tokens_per_minute   integer,
    ADD COLUMN last_used_at        timestamptz;

-- What keys used in the current minute. Not worth a write-ahead log: it is gone a minute later.
CREATE UNLOGGED TABLE kb.key_usage (
    key_id   uuid        NOT NULL PRIMARY KEY REFERENCES kb.api_keys (id) ON DELETE CASCADE,
    minute   timestamptz NOT NULL,
    requests bigint      NOT NULL,
    tokens   bigint      NOT NULL
);

-- Writes over HTTP. No foreign keys: rows outlive keys and projects.
CREATE TABLE kb.audit (
    id         uuid        NOT NULL PRIMARY KEY,
    at         timestamptz NOT NULL,
    project_id uuid,
    key_id     uuid,
    key_name   text,
    action     text        NOT NULL,
    path       text        NOT NULL,
    status     integer     NOT NULL,
    request_id text        NOT NULL
);
CREATE INDEX audit_project ON kb.audit (project_id, id);
CREATE INDEX audit_key ON kb.audit (key_id, id);
CREATE INDEX audit_at ON kb.audit (at);
