"""Runs every client in `clients/` through one stack and judges it: the matrix of `docs/reference/drivers.md`."""
