"""A TCP port of loopback that nothing listens on."""

import random
import socket

LOOPBACK = "127.0.0.1"
# Below those that systems give out by themselves, so that nobody comes by the number while the server starts.
TCP_PORTS = range(20000, 32000)


def free_port() -> int:
    while True:
        port = random.choice(TCP_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
        return port
