"""Kills Envoy at random moments while clients write and read through it, starts it again, and checks what is left.

No acknowledged row may be lost, no plaintext stored, no wrong value read, and no row or transaction be there in part.
`ledger` knows what was acknowledged, `databases` how a server is reached, `clients` write and read, `check` compares in
the end. Start it with `make kills SEED=1 KILLS=50`, or see `python -m kills --help`.
"""
