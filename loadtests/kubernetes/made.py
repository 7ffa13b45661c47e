"""Where and of what a cluster's results were made. What runs there is known to whoever runs it, not to this machine."""

import datetime

from loadtests import environment
from loadtests.kubernetes.histogram import RELATIVE_ERROR
from loadtests.results import Made


def made(
    source: tuple[str, bool],
    started: datetime.datetime,
    seconds: float,
    runners: int,
    nodes: str,
    versions: dict[str, str],
    noise: dict[str, list[float]],
    *,
    scale: float = 1.0,
    rounds: int = 1,
) -> Made:
    commit, modified = source
    return Made(
        commit=commit,
        modified=modified,
        started=environment.timestamp(started),
        seconds=round(seconds, 1),
        scale=scale,
        rounds=rounds,
        machine={"system": nodes} if nodes else {},
        versions={
            "k6 runners": f"{runners} pods",
            "percentiles": f"of the runners' histograms, added; within {RELATIVE_ERROR:.1%}",
            **versions,
        },
        noise=noise,
    )
