"""Load tests: what does it cost, and is it still right under load?

`python -m loadtests` runs suites of scenarios with k6 against every target, in interleaved rounds, and writes a report.
"""
