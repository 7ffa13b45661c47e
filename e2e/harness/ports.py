"""A TCP port of loopback that nothing listens on, and that nobody else who asks here is given."""

import random
import socket

LOOPBACK = "127.0.0.1"
# Below those that systems give out by themselves, so that nobody comes by the number while the server starts.
TCP_PORTS = range(20000, 32000)

# Of each port that was given out, the UDP port of the same number: bound until this process ends, it tells the other
# processes of a run, which look for ports at the same time, that the number is taken.
_reservations: list[socket.socket] = []


def free_port() -> int:
    while True:
        port = random.choice(TCP_PORTS)
        reservation = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            reservation.bind((LOOPBACK, port))
            with socket.socket() as probe:
                probe.bind((LOOPBACK, port))
        except OSError:
            reservation.close()
            continue
        _reservations.append(reservation)
        return port
