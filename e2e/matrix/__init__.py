"""Runs every client in `clients/` through one stack, and judges what it did: the matrix of `docs/drivers.md`."""
