"""All parts of a load test, running: one server with the same tables plain and sealed, and every way to it."""

from loadtests.rig.databases import PLAIN, SEALED, Databases, NotSealed, WrongRows
from loadtests.rig.live import ENVIRONMENT, Live
from loadtests.rig.rig import Rig
from loadtests.rig.targets import TARGETS, Target

__all__ = ["ENVIRONMENT", "PLAIN", "SEALED", "TARGETS", "Databases", "Live", "NotSealed", "Rig", "Target", "WrongRows"]
