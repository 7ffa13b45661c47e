"""Fetches and builds everything the demo and the tests run, into `.tools/`.

Standard library only: this is what makes the virtual environment. Run as
`python3 dev/setup` with the names of parts, or none for those that most targets use.
"""
