"""What every stack has: the parts that decide and open keys, and how a stack is started and stopped."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Self

from harness.agent import Agent
from harness.bundles import Bundles
from harness.envoy import Upstream
from harness.kms import Kms
from harness.opa import Opa
from harness.parts import OPA_CONNECTIONS
from harness.workdir import WorkDir

Progress = Callable[[str], None]
KEYSETS = ("pii", "payments")


def silent(_: str) -> None:
    """Shows no progress."""


class ControlPlane:
    """OPA, the key agent and what wraps its keysets.

    Several stacks may ask one control plane. The stack that made it starts and stops it.
    """

    def __init__(
        self,
        kms: Callable[[WorkDir], Kms] | None = None,
        policies: tuple[Path, ...] = (),
        bundles: Bundles | None = None,
    ) -> None:
        self.work = WorkDir()
        self.opa = Opa(self.work, policies, bundles)
        self.kms = kms(self.work) if kms else None
        self.agent = Agent(self.work, self.kms)
        self._bundles = bundles.server if bundles else None

    def start(self, keysets: tuple[str, ...], without: tuple[str, ...], progress: Progress) -> None:
        """Creates the keysets, and starts every part but those named (`opa`, `agent`)."""
        if self.kms is not None:
            progress("the KMS")
            self.kms.start()
        if self._bundles is not None:
            self._bundles.start()
        self.agent.create_kek()
        for keyset in keysets:
            self.agent.create_keyset(keyset)
        for name, part, what in (("opa", self.opa, "OPA"), ("agent", self.agent, "the key agent")):
            if name not in without:
                progress(what)
                part.start()

    def stop(self) -> None:
        for part in (self.agent, self.opa, self._bundles, self.kms):
            if part is not None:
                part.stop()

    def upstreams(self) -> dict[str, Upstream]:
        """The clusters of Envoy that the filter's configuration names."""
        return {
            "opa": Upstream(self.opa.socket, connections=OPA_CONNECTIONS),
            "key_agent": Upstream(self.agent.socket),
        }


class Sidecar(ABC):
    """An Envoy with what it asks and, perhaps, the server behind it, as one thing to start and stop."""

    def __init__(self, control: ControlPlane, progress: Progress, *, owns_control: bool = True) -> None:
        self.control = control
        self.work, self.opa, self.agent, self.kms = control.work, control.opa, control.agent, control.kms
        self._progress = progress
        self._owns_control = owns_control

    def start(self, *, without: tuple[str, ...] = ()) -> Self:
        """Starts every part but those named (`opa`, `agent`), each when the one it needs is ready."""
        try:
            self._start(without)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stops everything that it started and removes the folder; harmless to call twice."""
        self._stop()
        if self._owns_control:
            self.control.stop()
            self.work.remove()

    @property
    @abstractmethod
    def is_running(self) -> bool: ...

    @abstractmethod
    def _start(self, without: tuple[str, ...]) -> None: ...

    @abstractmethod
    def _stop(self) -> None:
        """Stops what is this stack's own."""

    def __enter__(self) -> Self:
        return self if self.is_running else self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
