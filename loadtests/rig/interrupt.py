"""A run that is told to end ends as by Ctrl-C: what it started is stopped first."""

import signal


def on_termination() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
