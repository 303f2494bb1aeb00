-- Claims that came from another system, and whose words the chunk has.
ALTER TABLE kb.object_provenance
    DROP CONSTRAINT object_provenance_operation_check,
    ADD CONSTRAINT object_provenance_operation_check CHECK (operation IN ('created', 'updated', 'confirmed', 'imported'));
