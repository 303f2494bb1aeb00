-- The id of the storage that belongs to this database. A marker object in the storage holds the same id.
CREATE TABLE kb.storage (
    only_row   boolean     NOT NULL PRIMARY KEY CHECK (only_row),
    id         uuid        NOT NULL,
    created_at timestamptz NOT NULL
);

-- One row for each original that this database put into its storage. The row is committed before the object is written and
-- deleted after the object is gone, so an object of ours is always listed. There is no foreign key: rows outlive projects.
--   kept     the object is at its key, or on its way there
--   moving   it is being moved to the trash
--   trashed  it is in the trash
CREATE TABLE kb.stored_originals (
    project_id uuid        NOT NULL,
    key        text        NOT NULL,
    noted_at   timestamptz NOT NULL,
    state      text        NOT NULL CHECK (state IN ('kept', 'moving', 'trashed')),
    trashed_at timestamptz,
    PRIMARY KEY (project_id, key),
    CHECK ((state = 'kept') = (trashed_at IS NULL))
);
CREATE INDEX stored_originals_trash ON kb.stored_originals (trashed_at) WHERE trashed_at IS NOT NULL;

-- The originals of completed jobs are those of documents, or were deleted when a newer version replaced them.
INSERT INTO kb.stored_originals (project_id, key, noted_at, state)
SELECT project_id, key, max(noted_at), 'kept'
FROM (SELECT project_id, original_key, updated_at FROM kb.documents
      UNION ALL
      SELECT project_id, config -> 'original' ->> 'key', created_at FROM kb.jobs WHERE status <> 'completed'
     ) AS known (project_id, key, noted_at)
WHERE key IS NOT NULL
GROUP BY project_id, key;
