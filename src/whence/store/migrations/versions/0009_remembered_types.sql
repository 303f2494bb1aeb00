-- The schema by which the object was called what it is: its type is renamed by those that came after it. Of objects that went
-- before this was kept it is taken to be the one of that time.
ALTER TABLE kb.remembered_objects ADD COLUMN schema_number integer;
UPDATE kb.remembered_objects g SET schema_number = coalesce((
    SELECT max(s.number) FROM kb.schemas s WHERE s.project_id = g.project_id AND s.created_at <= g.gone_at), 1);
ALTER TABLE kb.remembered_objects ALTER COLUMN schema_number SET NOT NULL;
