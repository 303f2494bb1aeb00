-- An object that went because its document was updated is the same when the new version speaks of it: who it was, and what
-- a person had merged into it (`object_id` is the object that it was part of then, its own id where it was none's).
CREATE TABLE kb.remembered_objects (
    project_id  uuid        NOT NULL,
    id          uuid        NOT NULL,
    document_id uuid        NOT NULL,
    object_id   uuid        NOT NULL,
    type        text        NOT NULL,
    name        text        NOT NULL,
    name_key    text        NOT NULL,
    created_at  timestamptz NOT NULL,
    merge_id    uuid,
    into_id     uuid,
    merged_at   timestamptz,
    gone_at     timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    UNIQUE (project_id, type, name_key),
    FOREIGN KEY (project_id, document_id) REFERENCES kb.documents (project_id, id) ON DELETE CASCADE
);
CREATE INDEX remembered_objects_object ON kb.remembered_objects (project_id, object_id);
CREATE INDEX remembered_objects_document ON kb.remembered_objects (project_id, document_id, gone_at DESC, id);
