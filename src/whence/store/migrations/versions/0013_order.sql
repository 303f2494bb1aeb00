-- The date that the file itself has. `valid_from` is the date in the metadata, else this one.
ALTER TABLE kb.documents ADD COLUMN dated_at timestamptz;
ALTER TABLE kb.job_texts ADD COLUMN dated_at timestamptz;

-- Lists that a newer claim replaces; all others collect the elements of their claims. The newest schema that has the property decides.
CREATE TABLE kb.replaced_lists (
    project_id    uuid NOT NULL REFERENCES kb.projects (id) ON DELETE CASCADE,
    type          text NOT NULL,
    property_name text NOT NULL,
    PRIMARY KEY (project_id, type, property_name)
);

-- The values by the new order of claims.
WITH ranked AS (
    SELECT p.project_id, p.object_id, p.property_name, p.value,
           row_number() OVER newest AS place,
           jsonb_typeof(first_value(p.value) OVER newest) = 'array' AND first_value(p.value) OVER newest <> '[]' AS accumulates
    FROM kb.object_provenance p
    JOIN kb.chunks c ON c.project_id = p.project_id AND c.id = p.chunk_id
    JOIN kb.documents d ON d.project_id = p.project_id AND d.id = c.document_id
    WHERE p.property_name <> 'name'
    WINDOW newest AS (PARTITION BY p.project_id, p.object_id, p.property_name
                      ORDER BY coalesce(d.valid_from, d.version_at, d.created_at) DESC, d.id DESC, c.chunk_index DESC, p.id DESC)
), settled AS (
    SELECT project_id, object_id, property_name, value FROM ranked WHERE place = 1 AND NOT accumulates
    UNION ALL
    SELECT u.project_id, u.object_id, u.property_name, jsonb_agg(u.value ORDER BY u.place DESC, u.at)
    FROM (
        SELECT DISTINCT ON (r.project_id, r.object_id, r.property_name, k.key)
               r.project_id, r.object_id, r.property_name, r.place, e.value, e.at
        FROM ranked r,
             jsonb_array_elements(CASE jsonb_typeof(r.value) WHEN 'array' THEN r.value ELSE '[]' END)
                 WITH ORDINALITY e (value, at),
             LATERAL (SELECT CASE jsonb_typeof(e.value) WHEN 'string' THEN to_jsonb(lower(e.value #>> '{}'))
                             ELSE e.value END AS key) k
        WHERE r.accumulates
        ORDER BY r.project_id, r.object_id, r.property_name, k.key, r.place DESC, e.at) u
    GROUP BY u.project_id, u.object_id, u.property_name
)
UPDATE kb.graph_objects o SET properties = n.properties
FROM (SELECT project_id, object_id, jsonb_object_agg(property_name, value) AS properties
      FROM settled GROUP BY project_id, object_id) n
WHERE o.project_id = n.project_id AND o.id = n.object_id AND o.properties <> n.properties;

UPDATE kb.relationships r SET properties = n.properties
FROM (SELECT p.project_id, p.relationship_id, jsonb_object_agg(
                 e.key, e.value ORDER BY coalesce(d.valid_from, d.version_at, d.created_at), d.id, c.chunk_index, p.id) AS properties
      FROM kb.relationship_provenance p
      JOIN kb.chunks c ON c.project_id = p.project_id AND c.id = p.chunk_id
      JOIN kb.documents d ON d.project_id = p.project_id AND d.id = c.document_id, jsonb_each(p.properties) e
      GROUP BY p.project_id, p.relationship_id) n
WHERE r.project_id = n.project_id AND r.id = n.relationship_id AND r.properties <> n.properties;
