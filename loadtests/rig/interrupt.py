"""A run that is told to end ends as by Ctrl-C: what it started is stopped first."""

import signal


def on_termination() -> None:
    # SIGINT too: in the background of a shell it is ignored, and k6 alone would end.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
