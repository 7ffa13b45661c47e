"""Every suite, in the order in which they run."""

from loadtests.scenario import Suite
from loadtests.suites import oltp, rows

SUITES: dict[str, Suite] = {suite.name: suite for suite in (oltp.SUITE, rows.SUITE)}
