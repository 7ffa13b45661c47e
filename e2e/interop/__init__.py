"""Lets Tink's Go, Python and Java libraries and the filter read each other's keysets and values.

`exchange` does it once and keeps what came of everything; the tests look at that, and `make interop` writes
`docs/reference/interop.md` from it.
"""
