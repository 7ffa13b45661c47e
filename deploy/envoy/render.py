"""Renders an Envoy template of this folder: python3 deploy/envoy/render.py http.yaml.j2 VALUES.json > envoy.yaml

What a template takes is said at its head, an example is docs/examples/http-sidecar.json. A value that is missing is an
error: without `filter` a listener would pass everything as it is. Needs Jinja2.
"""

import json
import sys
from pathlib import Path

import jinja2


def render(template: str, values: dict) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(values)


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: render.py TEMPLATE VALUES.json", file=sys.stderr)
        return 2
    template, values = sys.argv[1:]
    try:
        print(render(template, json.loads(Path(values).read_text())), end="")
    except (OSError, ValueError, jinja2.TemplateError) as error:
        remedy = "see what the head of the template asks for"
        print(f"render.py: {template} with {values}: {error}; {remedy}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
