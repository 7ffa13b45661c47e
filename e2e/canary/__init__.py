"""Random statements against the sidecar: every answer must be the one of a plaintext database, and no plaintext
of a protected column may reach the server.

`schema` says what the tables are, `marks` makes values that can be found again, `generate` writes statements,
`client` runs them, `differential` holds one database against the other, `leaks` looks for marks.
Start it with `make canary SEED=1 COUNT=2000`, or `python -m canary --help`.
"""
