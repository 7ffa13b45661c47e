"""What people read of a run: a page, Markdown, what changed since another run, and `docs/performance.md`."""

from loadtests.report.html import write_html

__all__ = ["write_html"]
