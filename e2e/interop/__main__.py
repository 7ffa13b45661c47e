"""Entry point: `python -m interop` runs an exchange and writes `docs/reference/interop.md`."""

import tempfile
from pathlib import Path

from dev.layout import ROOT
from interop import document, exchange


def main() -> None:
    with tempfile.TemporaryDirectory() as policies:
        done = exchange.run(Path(policies))
    document.DOCUMENT.write_text(document.render(done))
    print(f"written: {document.DOCUMENT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
