"""Runs tasks that depend on one another: parts of the set-up, and suites of tests. Standard library only."""
