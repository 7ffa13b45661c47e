"""Runs the real parts for the demo, the tests and the benchmark: PostgreSQL, OPA, the key agent, Envoy.

`Stack` composes them; each part is a class of its own with `start`, `ready` and `stop`. Everything a
run writes is in one short-named temporary folder, and everything it starts ends with it.
"""

from harness.envoy import Upstream
from harness.gateway import JwtProvider
from harness.http_stack import HttpOptions, HttpStack, HttpWay
from harness.stack import Options, Stack

__all__ = ["HttpOptions", "HttpStack", "HttpWay", "JwtProvider", "Options", "Stack", "Upstream"]
