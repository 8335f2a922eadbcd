"""Cache, content hashes, and a store of evaluated points."""
