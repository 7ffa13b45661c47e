"""What ends a suite: something is wrong that no figure may hide."""


class Failed(Exception):
    """The text says where and what; never a value."""
