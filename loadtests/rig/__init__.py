"""All parts of a load test, running: the servers with the same values plain and sealed, and every way to them."""

from loadtests.rig.databases import PLAIN, SEALED, Databases, NotSealed, WrongRows
from loadtests.rig.live import ENVIRONMENT, Live
from loadtests.rig.rig import Rig
from loadtests.rig.service import LiveHttp, Service, WrongBody
from loadtests.rig.targets import HTTP_TARGETS, TARGETS, Target

__all__ = [
    "ENVIRONMENT",
    "HTTP_TARGETS",
    "PLAIN",
    "SEALED",
    "TARGETS",
    "Databases",
    "Live",
    "LiveHttp",
    "NotSealed",
    "Rig",
    "Service",
    "Target",
    "WrongBody",
    "WrongRows",
]
