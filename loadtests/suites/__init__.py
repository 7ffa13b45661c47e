"""Every suite, in the order in which they run."""

from loadtests.scenario import Suite
from loadtests.suites import fieldproc, oltp, rows, sqlcredit

SUITES: dict[str, Suite] = {suite.name: suite for suite in (oltp.SUITE, rows.SUITE, fieldproc.SUITE, sqlcredit.SUITE)}
