"""Tests of keys, which `make test-keys` runs alone."""
