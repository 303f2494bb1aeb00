-- How each claim of a relationship came about, as for objects, and whether its chunk mentions both ends.
ALTER TABLE kb.relationship_provenance
    ADD COLUMN operation text NOT NULL DEFAULT 'created'
        CHECK (operation IN ('created', 'updated', 'confirmed', 'imported')),
    ADD COLUMN is_grounded boolean NOT NULL DEFAULT true;
ALTER TABLE kb.hidden_relationship_claims
    ADD COLUMN operation text NOT NULL DEFAULT 'created',
    ADD COLUMN is_grounded boolean NOT NULL DEFAULT true;
ALTER TABLE kb.rejected_relationship_claims
    ADD COLUMN operation text NOT NULL DEFAULT 'created',
    ADD COLUMN is_grounded boolean NOT NULL DEFAULT true;
UPDATE kb.relationship_provenance p SET operation = 'updated'
WHERE EXISTS (SELECT FROM kb.relationship_provenance e
              WHERE e.project_id = p.project_id AND e.relationship_id = p.relationship_id
                AND (e.extracted_at, e.id) < (p.extracted_at, p.id));
CREATE INDEX relationship_provenance_ungrounded ON kb.relationship_provenance (project_id, relationship_id) WHERE NOT is_grounded;
