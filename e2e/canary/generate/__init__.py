"""Writes random statements over `canary.schema`, most of which a server would accept.

`maker` holds one text while it grows; `sources`, `expressions` and `queries` make SELECTs; `writes` and `copying`
what stores; `sessions` what takes several steps; `scripts` picks among them.
"""

from canary.generate.scripts import script

__all__ = ["script"]
