"""Switching what serves on this host, as a transaction: done and proven, or taken back and proven (contract 8.3, 12.2)."""
