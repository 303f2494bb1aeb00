-- Conversations, and their answers as they were given. `owner` is the API key that asked; null without a key.
CREATE TABLE kb.conversations (
    project_id uuid        NOT NULL REFERENCES kb.projects (id) ON DELETE CASCADE,
    id         uuid        NOT NULL,
    owner      uuid,
    title      text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (project_id, id)
);
CREATE INDEX conversations_id ON kb.conversations (id);
CREATE INDEX conversations_recent ON kb.conversations (project_id, updated_at);
CREATE INDEX conversations_age ON kb.conversations (updated_at);

-- A refreshed answer stays; the new one has the same turn. `asked` and `answer` are in the form of the API.
CREATE TABLE kb.answers (
    project_id      uuid        NOT NULL,
    id              uuid        NOT NULL,
    conversation_id uuid        NOT NULL,
    turn_id         uuid        NOT NULL,
    asked           jsonb       NOT NULL,
    answer          jsonb       NOT NULL,
    feedback        jsonb,
    refreshes       uuid,
    refreshed_by    uuid,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, conversation_id) REFERENCES kb.conversations (project_id, id) ON DELETE CASCADE
);
CREATE INDEX answers_id ON kb.answers (id);
CREATE INDEX answers_conversation ON kb.answers (project_id, conversation_id, turn_id);
CREATE INDEX answers_feedback ON kb.answers (project_id, id) WHERE feedback IS NOT NULL;

-- What an answer cites: `number` is the citation, the offsets are those of its quote in the chunk. There is no foreign key to the
-- chunk: the row says why the chunk, or its claim, does not hold any more, and since when.
CREATE TABLE kb.answer_grounds (
    project_id   uuid    NOT NULL,
    answer_id    uuid    NOT NULL,
    number       integer NOT NULL,
    chunk_id     uuid    NOT NULL,
    start_offset integer,
    end_offset   integer,
    reason       text    CHECK (reason IN ('changed', 'deleted', 'rejected')),
    moved_at     timestamptz,
    PRIMARY KEY (project_id, answer_id, number),
    FOREIGN KEY (project_id, answer_id) REFERENCES kb.answers (project_id, id) ON DELETE CASCADE,
    CHECK ((reason IS NULL) = (moved_at IS NULL))
);
CREATE INDEX answer_grounds_chunk ON kb.answer_grounds (project_id, chunk_id);
CREATE INDEX answer_grounds_moved ON kb.answer_grounds (project_id, answer_id) WHERE reason IS NOT NULL;
