"""One self-contained HTML page: texts and tables from the template, charts drawn by Plotly.js and a script of ours."""

import base64
import hashlib
import re
from pathlib import Path

import jinja2
from markupsafe import Markup

from dev.layout import PLOTLY
from loadtests.report import bodies, charts, facts, grids, words
from loadtests.results import Results, SuiteResult, Table
from loadtests.summary import ScenarioSummary, SuiteSummary

PAGE = Path(__file__).parent / "page"


class ReportFailed(Exception):
    """The page can't be made; the text says what is missing and how to get it."""


def write_html(results: Results, path: Path) -> None:
    path.write_text(render(results), encoding="utf-8")


def render(results: Results) -> str:
    scripts = [_script(_plotly()), _script((PAGE / "page.js").read_text(encoding="utf-8"))]
    template = _environment().get_template("report.html.j2")
    return template.render(
        results=results,
        chapters=[_chapter(at, suite) for at, suite in enumerate(results.suites)],
        verdict=facts.verdict(results),
        summary=grids.summary(results),
        bodies=bodies.summary(results),
        dearest=grids.dearest(results),
        thresholds=grids.thresholds(results.thresholds) if results.thresholds else None,
        facts=facts,
        sidecar=words.SIDECAR,
        reading=words.READING,
        data=charts.data(results),
        style=Markup((PAGE / "page.css").read_text(encoding="utf-8")),
        scripts=scripts,
        policy=_policy(scripts),
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Scenarios stay in the order of their suite.
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    return environment


def _plotly() -> str:
    try:
        return PLOTLY.read_text(encoding="utf-8")
    except OSError as error:
        raise ReportFailed(f"{PLOTLY}: {error.strerror}; run `python3 dev/setup plotly`") from error


def _script(text: str) -> Markup:
    """A text as it may stand in an element: nothing in it ends that."""
    return Markup(re.sub(r"</(?=script)", r"<\\/", text, flags=re.IGNORECASE))


def _policy(scripts: list[Markup]) -> str:
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    # Plotly.js writes styles into its drawings. It asks for nothing elsewhere, and could not.
    allowed = f"script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _chapter(at: int, suite: SuiteResult) -> dict:
    return {
        "id": f"suite-{at}",
        "suite": suite,
        "ways": words.of_suite(suite),
        "scenarios": [
            _scenario(f"suite-{at}-{number}", suite.name, scenario)
            for number, scenario in enumerate(SuiteSummary(suite).scenarios().values())
        ],
        "published": grids.of_table(suite.published.figures) if suite.published else None,
        "beside": [_extra(f"{at}-beside-{number}", table) for number, table in enumerate(suite.beside)],
        "extra": [_extra(f"{at}-extra-{number}", table) for number, table in enumerate(suite.extra)],
    }


def _scenario(name: str, suite: str, scenario: ScenarioSummary) -> dict:
    wrong = facts.faults(suite, scenario.result)
    return {
        "id": name,
        "result": scenario.result,
        "workload": grids.workload(scenario),
        "grids": [grid for grid in (grids.absolutes(scenario), grids.ratios(scenario)) if grid],
        "wrong": [one for one in wrong if one.is_wrong],
        "late": [one for one in wrong if not one.is_wrong],
    }


def _extra(key: str, table: Table) -> dict:
    return {"key": key, "grid": grids.of_table(table), "chart": charts.has_chart(table)}
