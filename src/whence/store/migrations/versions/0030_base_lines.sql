-- Layouts are a cache. Glyphs without an outline have base lines now.
DELETE FROM kb.page_layouts;
