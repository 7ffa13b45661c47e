"""All parts of a load test, running: one server with the same tables plain and sealed, and every way to it."""

from loadtests.rig.live import Live
from loadtests.rig.rig import PLAIN, SEALED, Rig
from loadtests.rig.targets import TARGETS, Target

__all__ = ["PLAIN", "SEALED", "TARGETS", "Live", "Rig", "Target"]
