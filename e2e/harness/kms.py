"""What the harness needs of a KMS: a server with one key, and how the commands are told of both."""

from typing import Protocol


class Kms(Protocol):
    @property
    def kek_uri(self) -> str: ...

    @property
    def environment(self) -> dict[str, str]:
        """Where it is, and the least credentials that wrap and open keysets."""
        ...

    def start(self) -> None: ...

    def stop(self) -> None: ...
