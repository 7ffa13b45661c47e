"""Waiting for one socket."""

import select


def ready(socket: int, event: int, seconds: float) -> bool:
    """Whether the event comes in time. The socket may have any number, where that of `select` ends at 1,023."""
    poll = select.poll()
    poll.register(socket, event)
    return bool(poll.poll(seconds * 1000))
