-- Where the characters of a PDF's page are, computed when rectangles of the page are first asked for. Of one version only.
CREATE TABLE kb.page_layouts (
    project_id  uuid    NOT NULL,
    document_id uuid    NOT NULL,
    page        integer NOT NULL,
    version     integer NOT NULL,
    width       real    NOT NULL,
    height      real    NOT NULL,
    rotation    integer NOT NULL,
    characters  bytea   NOT NULL,
    PRIMARY KEY (project_id, document_id, page),
    FOREIGN KEY (project_id, document_id) REFERENCES kb.documents (project_id, id) ON DELETE CASCADE
);
ALTER TABLE kb.page_layouts ALTER COLUMN characters SET STORAGE EXTERNAL; -- compressed already
