"""HTTP: routes translate, they do not think."""
