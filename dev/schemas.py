"""Strict JSON schemas, a file for each kind, from which kubeconform judges manifests without a cluster.

usage: schemas.py FOLDER

Made of what the projects publish in their Go modules: the OpenAPI document of each Kubernetes release, into a folder of
its own, and the Prometheus operator's CustomResourceDefinitions, into `operators`. Files are named so that
kubeconform finds them with  -schema-location 'FOLDER/1.36/{{ .ResourceKind }}{{ .KindSuffix }}.json'.

Unknown fields are refused everywhere the API's type lists its fields; null is taken for fields that may be left
out, as the API takes it.
"""

import copy
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

# A version and the checksum of its module, as Go's checksum database has it.
KUBERNETES = {
    "1.36": ("v1.36.3", "h1:qDQdoMiluAE2Eab6Fa52YV+WjiGz9mZFFoagEA6cI+o="),
    "1.30": ("v1.30.14", "h1:MrlKXh9uhLIJpyxOeXhcndzRVSvwiV9iJ8NgH8nqPsg="),
}
OPERATOR = ("v0.85.0", "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=")
OPERATOR_KINDS = ("podmonitors", "prometheusrules")

# Types whose OpenAPI says "string" but which take a number as well.
STRING_OR_NUMBER = {
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "integer",
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "number",
}
GVK = "x-kubernetes-group-version-kind"
OR_NULL = ".or-null"
DROPPED = ("description", "format", "default")
DRAFT = "http://json-schema.org/draft-07/schema#"

Schema = dict[str, Any]


def main(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for release, (version, checksum) in KUBERNETES.items():
        source = module("k8s.io/kubernetes", version, checksum) / "api" / "openapi-spec" / "swagger.json"
        write(folder / release, of_openapi(json.loads(source.read_text())["definitions"]))
    operator = module("github.com/prometheus-operator/prometheus-operator", *OPERATOR)
    definitions = operator / "example" / "prometheus-operator-crd"
    for kind in OPERATOR_KINDS:
        definition = yaml.safe_load((definitions / f"monitoring.coreos.com_{kind}.yaml").read_text())
        write(folder / "operators", of_definition(definition["spec"]))


def module(path: str, version: str, checksum: str) -> Path:
    """The folder of a Go module, fetched unless it is there."""
    command = ["go", "mod", "download", "-json", f"{path}@{version}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/")
    if done.returncode != 0:
        sys.exit(f"{path}@{version}: {done.stderr or done.stdout}")
    told = json.loads(done.stdout)
    if told["Sum"] != checksum:
        sys.exit(f"{path}@{version}: its checksum is {told['Sum']}, not {checksum}")
    return Path(told["Dir"])


def write(folder: Path, schemas: dict[str, Schema]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in schemas.items():
        (folder / name).write_text(json.dumps(schema, separators=(",", ":")))
    print(f"{len(schemas)} schemas in {folder}")


def file_name(group: str, version: str, kind: str) -> str:
    parts = [kind.lower(), *([group.split(".")[0]] if group else []), version]
    return "-".join(parts) + ".json"


def of_openapi(source: dict[str, Schema]) -> dict[str, Schema]:
    """A file's name and its schema, for each kind of a release."""
    definitions = {name: strict(name, schema) for name, schema in source.items()}
    definitions |= {name + OR_NULL: or_null(schema) for name, schema in definitions.items()}
    found = {}
    for name, schema in source.items():
        kinds = schema.get(GVK, [])
        if len(kinds) != 1:  # none, or one of the options types shared by all groups
            continue
        of_kind = kinds[0]["group"], kinds[0]["version"], kinds[0]["kind"]
        found[file_name(*of_kind)] = standalone(name, of_kind, definitions)
    return found


def strict(name: str, source: Schema) -> Schema:
    if name in STRING_OR_NUMBER:
        return either(STRING_OR_NUMBER[name])
    schema = plain(source)
    listed = schema.get("type") == "object" and "properties" in schema
    if listed and "JSONSchemaProps" not in name:
        schema.setdefault("additionalProperties", False)
    required = schema.get("required", [])
    for field, of_field in schema.get("properties", {}).items():
        if "$ref" in of_field and field not in required:
            of_field["$ref"] += OR_NULL
        elif field not in required:
            schema["properties"][field] = or_null(of_field)
    return schema


def plain(node: Any) -> Any:
    """The node as JSON schema draft 7: no Kubernetes extensions, no prose."""
    if isinstance(node, list):
        return [plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("$ref"), str):
        return {"$ref": node["$ref"]}
    if node.get("format") == "int-or-string":
        return either("integer")
    kept = {}
    for key, value in node.items():
        # A property may itself be named "description" or "default": its value is a schema.
        if key in DROPPED and not isinstance(value, dict):
            continue
        if not key.startswith("x-kubernetes-"):
            kept[key] = plain(value)
    return kept


def either(other: str) -> Schema:
    return {"oneOf": [{"type": "string"}, {"type": other}]}


def or_null(schema: Schema) -> Schema:
    if "type" in schema:
        return {**schema, "type": [schema["type"], "null"]}
    if "oneOf" in schema:
        return {"oneOf": [*schema["oneOf"], {"type": "null"}]}
    return schema


def standalone(name: str, of_kind: tuple[str, str, str], definitions: dict[str, Schema]) -> Schema:
    schema = of_manifest(copy.deepcopy(definitions[name]), of_kind)
    found: set[str] = set()
    collect_refs(schema, definitions, found)
    schema["definitions"] = {ref: definitions[ref] for ref in sorted(found)}
    return schema


def of_manifest(schema: Schema, of_kind: tuple[str, str, str]) -> Schema:
    group, version, kind = of_kind
    schema["properties"]["apiVersion"] = {"type": "string", "enum": [f"{group}/{version}" if group else version]}
    schema["properties"]["kind"] = {"type": "string", "enum": [kind]}
    schema["required"] = sorted({*schema.get("required", []), "apiVersion", "kind"})
    schema["$schema"] = DRAFT
    return schema


def collect_refs(node: Any, definitions: dict[str, Schema], found: set[str]) -> None:
    if isinstance(node, list):
        for item in node:
            collect_refs(item, definitions, found)
    elif isinstance(node, dict):
        ref = node.get("$ref")
        if isinstance(ref, str):
            name = ref.rsplit("/", 1)[-1]
            if name not in found:
                found.add(name)
                collect_refs(definitions[name], definitions, found)
        for value in node.values():
            collect_refs(value, definitions, found)


def of_definition(spec: Schema) -> dict[str, Schema]:
    """As `of_openapi`, for each version of a CustomResourceDefinition. Its schema is whole: it refers to nothing."""
    found = {}
    for version in spec["versions"]:
        of_kind = spec["group"], version["name"], spec["names"]["kind"]
        schema = structural(version["schema"]["openAPIV3Schema"])
        # What every object has, the definition leaves to the API server.
        schema["properties"]["metadata"] = {"type": "object"}
        found[file_name(*of_kind)] = of_manifest(schema, of_kind)
    return found


def structural(node: Any) -> Any:
    """A structural schema as JSON schema draft 7, strict where it names its fields."""
    if isinstance(node, list):
        return [structural(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("x-kubernetes-int-or-string") is True:
        return either("integer")
    schema = {
        key: structural(value)
        for key, value in node.items()
        if not key.startswith("x-kubernetes-") and (key not in DROPPED or isinstance(value, dict))
    }
    fields = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
    if fields and not node.get("x-kubernetes-preserve-unknown-fields"):
        schema.setdefault("additionalProperties", False)
    return schema


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
