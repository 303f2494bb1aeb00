-- Texts speak of "OAuth" where the object is named "OAuth 2.0": names that end with a number are found without it, too.
CREATE INDEX graph_objects_numbered ON kb.graph_objects (project_id, regexp_replace(name_key, ' v?[0-9][0-9.]*$', ''))
    WHERE name_key ~ ' v?[0-9][0-9.]*$';
