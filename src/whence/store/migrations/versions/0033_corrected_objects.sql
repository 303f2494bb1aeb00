-- The id that the object of a correction had at that time, for the history of an object that is gone.
ALTER TABLE kb.curations ADD COLUMN subject_id uuid;
UPDATE kb.curations w SET subject_id = coalesce(
    (SELECT o.id FROM kb.graph_objects o
     WHERE o.project_id = w.project_id AND o.type = w.type AND o.name_key = w.name_key),
    (SELECT r.id FROM kb.remembered_objects r
     WHERE r.project_id = w.project_id AND r.type = w.type AND r.name_key = w.name_key));
CREATE INDEX curations_subject ON kb.curations (subject_id);
