"""The analysis of statements against PostgreSQL's own parser: it agrees or refuses, and never disagrees and passes.

`corpus/` and `generate.py` give the texts, `oracle.py` says from the server's tree what must be sealed and what must be
refused, `compare.py` holds what the analysis said to that. The oracle shares no code with the analysis.
"""
