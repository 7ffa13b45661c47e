"""A structural schema as Kubernetes has them, and what in an object does not fit it. Strict: unknown fields do not."""

from collections.abc import Iterator

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def problems(value: object, schema: dict, shared: dict, path: str = "") -> Iterator[str]:
    """`shared`: what a "$ref" names."""
    schema = shared[schema["$ref"]] if "$ref" in schema else schema
    if schema.get("x-kubernetes-int-or-string"):
        if not isinstance(value, int | str):
            yield f"{path}: {value!r} is neither a number nor text"
        return
    kind = schema["type"]
    # In Python, True is a number too.
    if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        yield f"{path}: {value!r} is no {kind}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is none of {schema['enum']}"
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from problems(item, schema["items"], shared, f"{path}[{number}]")
    if isinstance(value, dict):
        yield from (f"{path}.{name} is missing" for name in schema.get("required", []) if name not in value)
        for name, item in value.items():
            inner = schema.get("properties", {}).get(name) or schema.get("additionalProperties")
            if not inner:
                yield f"{path}.{name}: no such field"
            else:
                yield from problems(item, inner, shared, f"{path}.{name}")
