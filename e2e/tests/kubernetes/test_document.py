"""The way from an empty cluster to a protected workload, as docs/start/kubernetes.md tells it: command by command, as a
user types them, in a copy of the checkout."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from dev.layout import ROOT, TOOLS
from harness.waiting import patience, until
from kubernetes import Cluster
from kubernetes.namespace import TOUCH_SECONDS
from tests.policies.typed import typed

DOCUMENT = "docs/start/kubernetes.md"
SECTION = re.compile(r"^### (\d)\. .*?$(.*?)(?=^###? )", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = Path("docs/examples/kubernetes")
# That of the database and of the applications, which the cluster can't pull.
OFFICIAL = "postgres:18"
ADA = ["078-05-1120", "***-**-1120"]
POLICY_SECONDS = 90
SIDECARS_SAY = "kubectl logs --namespace shop --selector fieldveil.io/sidecar --all-containers --prefix --tail 40"


@pytest.fixture(scope="module")
def checkout(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """With the images that the cluster has, and nothing left of the document's namespaces."""
    if not cluster.is_own:
        pytest.skip("SKIPPED: the document's namespaces, `shop` and `data`, are not for a cluster that others use too")
    copy = tmp_path_factory.mktemp("document") / "fieldveil"
    for name in ("charts", "docs/examples"):
        shutil.copytree(ROOT / name, copy / name, symlinks=True)
    (copy / ".tools").symlink_to(TOOLS)
    (copy / DOCUMENT).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / DOCUMENT, copy / DOCUMENT)
    postgres = cluster.image("postgres").reference
    for file in (copy / EXAMPLES).glob("*.yaml"):
        file.write_text(file.read_text().replace(OFFICIAL, postgres))
    values = yaml.safe_load((copy / EXAMPLES / "values.yaml").read_text())
    images = {name: cluster.image(name) for name in ("fieldveil", "envoy", "opa")}
    values["sidecar"]["images"] = {
        name: {"repository": image.repository, "tag": image.tag} for name, image in images.items()
    }
    values["test"]["image"] = postgres
    (copy / EXAMPLES / "values.yaml").write_text(yaml.safe_dump(values))
    yield copy
    cluster.kubectl(
        "delete", "namespace", "shop", "data", "--ignore-not-found", f"--timeout={patience(100):.0f}s", seconds=110
    )


def test_every_step_works_and_shows_what_the_document_says(cluster: Cluster, checkout: Path) -> None:
    before = everything(cluster)
    steps = {number: "".join(BLOCK.findall(text)) for number, text in SECTION.findall((ROOT / DOCUMENT).read_text())}
    assert list(steps) == [str(number) for number in range(1, 9)]
    said = {}
    # One shell's environment for all: what a step exports, the next ones have. The tools are built.
    environment = steps.pop("1").replace("make policy-tools\n", "")
    for number, commands in steps.items():
        said[number] = run(environment + commands, checkout)
        if number == "7":
            wait_until_support_sees_the_number(environment, checkout)
    assert "Phase:          Succeeded" in said["5"] + said["6"]
    billing, support, stored = said["6"].split("id | name")[-3:]
    assert ADA[0] in billing
    assert ADA[1] in support
    assert "a***@e***.com" in support
    assert ADA[0] not in support + stored
    assert stored.count("fv1.") == 2
    assert everything(cluster) - before == set()


def wait_until_support_sees_the_number(environment: str, checkout: Path) -> None:
    """Hastened: the kubelet looks at a pod that is touched, again and again, as it may not know of the change yet."""
    touch = """kubectl annotate pods --namespace shop --selector=app=support --overwrite touched="$(date +%s)" >&2"""
    look = "kubectl exec --namespace shop deployment/support --container application -- psql -At -c"

    def seen() -> str:
        return run(f"{environment}{touch}\n{look} 'SELECT ssn FROM customer'", checkout)

    until(lambda: ADA[0] in seen(), "support to see the number", seconds=POLICY_SECONDS, poll=TOUCH_SECONDS)


def run(commands: str, checkout: Path) -> str:
    """What they print. The last line of a failure comes first, as that is what a summary has room for; last, what the
    sidecars say."""
    done = typed(commands, checkout)
    if done.returncode != 0:
        last = done.stdout.rstrip().rpartition("\n")[2]
        pytest.fail(f"{last}\n{commands}\n{done.stdout}\n{typed(SIDECARS_SAY, checkout).stdout}")
    return done.stdout


def everything(cluster: Cluster) -> set[str]:
    """What belongs to no namespace and could be left behind, apart from what other tests make and remove meanwhile."""
    kinds = "namespaces,mutatingadmissionpolicies,mutatingadmissionpolicybindings,validatingadmissionpolicies"
    kinds += ",validatingadmissionpolicybindings,clusterroles,clusterrolebindings,customresourcedefinitions"
    return {name for name in cluster.kubectl("get", kinds, "--output=name").split() if "fv-" not in name}
