"""All parts of a load test, running: the servers with the same values plain and sealed, and every way to them."""

from loadtests.rig.databases import PLAIN, SEALED, Databases, NotSealed
from loadtests.rig.live import ENVIRONMENT, Live, LiveDatabase, WrongRows
from loadtests.rig.mysql import MySqlLive
from loadtests.rig.rig import Rig
from loadtests.rig.service import LiveHttp, Service, WrongBody
from loadtests.rig.targets import HTTP_TARGETS, MYSQL_TARGETS, TARGETS, TLS_TARGETS, Target

__all__ = [
    "ENVIRONMENT",
    "HTTP_TARGETS",
    "MYSQL_TARGETS",
    "PLAIN",
    "SEALED",
    "TARGETS",
    "TLS_TARGETS",
    "Databases",
    "Live",
    "LiveDatabase",
    "LiveHttp",
    "MySqlLive",
    "NotSealed",
    "Rig",
    "Service",
    "Target",
    "WrongBody",
    "WrongRows",
]
