"""Runs the project's checks and tests, counts them, and adds them up.

`python3 dev/suites GROUP|SUITE …` makes the parts that they need, begins each as soon as its
own are there, and goes on after a failure.
`python3 dev/suites --sum FOLDER` adds up what earlier runs recorded.
"""
