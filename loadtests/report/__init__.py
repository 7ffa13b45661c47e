"""What people read of a run: a page, Markdown, what changed since another run, and the documents."""

from loadtests.report.compare import compare
from loadtests.report.document import write_document
from loadtests.report.html import ReportFailed, write_html
from loadtests.report.markdown import write_markdown

__all__ = ["ReportFailed", "compare", "write_document", "write_html", "write_markdown"]
