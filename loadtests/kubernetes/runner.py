"""The suites in interleaved rounds, as on one machine; each measurement is a TestRun of several runners."""

import json
from dataclasses import asdict, dataclass, field

from loadtests import environment
from loadtests.kubernetes import made, merge
from loadtests.kubernetes.cluster import Cluster, ClusterFailed, manifest
from loadtests.kubernetes.places import Places
from loadtests.kubernetes.remote import NotReady, Remote
from loadtests.results import Made, Results
from loadtests.runner import RunFailed, Runner, say

# Beside the workload itself: images, the operator's look at the script, its way from stage to stage.
OVERHEAD_SECONDS = 300.0
# How long fixed work may take.
FIXED_SECONDS = 3600.0
RESULT = "stdout"


@dataclass(frozen=True)
class Found:
    """What a TestRun left: logs by the pod's name."""

    stage: str
    runners: dict[str, str]
    # The operator's initializer and starter.
    others: dict[str, str]
    meters: dict[str, str]


@dataclass
class ClusterRunner(Runner):
    places: Places = field(kw_only=True)
    cluster: Cluster = field(kw_only=True)
    parallelism: int = field(kw_only=True)
    image: str = field(kw_only=True)
    # Whether the tables of an earlier run may go.
    drop: bool = field(kw_only=True)

    def run(self) -> Results:
        self._together: list[float] = []
        return super().run()

    def made(self, seconds: float, noise: environment.Noise, servers: dict[str, str]) -> Made:
        # This machine's noise says nothing of the cluster.
        together = {"runners_together_percent": self._together}
        versions = {**servers, "k6 image": self.image, **self.places.versions}
        return made.made(
            noise.source,
            noise.started,
            seconds,
            self.parallelism,
            self.cluster.nodes(),
            versions,
            together,
            scale=self.scale,
            rounds=self.rounds,
        )

    def others(self) -> None:
        # They are on this machine, and the cluster is elsewhere.
        return None

    def rig(self) -> Remote:
        return Remote(self.places, drop=self.drop)

    def k6(self, name: str, work: dict) -> dict:
        if work["folder"] in json.dumps(work["data"]):
            raise NotReady(f"{name}: its script shares files with the suite, on one machine: run it by make loadtest")
        # The operator refuses more runners than there are clients.
        parallelism = min(self.parallelism, work["workload"]["clients"])
        found = self._test_run(work, parallelism)
        for pod, log in {**found.runners, **found.others, **found.meters}.items():
            (self.folder / f"{name}.{pod}.log").write_text(log)
        if found.stage != "finished" or len(found.runners) != parallelism:
            raise RunFailed(
                f"{name}: {len(found.runners)} of {parallelism} runners, the TestRun's stage is {found.stage}: "
                f"see the logs in {self.folder}"
            )
        runners = [merge.runner_result(log, f"{name}, {pod}") for pod, log in found.runners.items()]
        for failure in (failure for runner in runners for failure in runner.failures or []):
            say(f"    | {failure}")
        if work["workload"]["kind"] != "fixed":
            self._together.append(round(100 * merge.common_share(runners), 1))
        meters = [merge.samples(log) for log in found.meters.values()]
        return asdict(merge.measurement(work["target"], 0, work["workload"]["kind"], runners, meters))

    def _test_run(self, work: dict, parallelism: int) -> Found:
        """Makes one, awaits its end, and removes it."""
        document = manifest("work")
        document["data"] = {"work.json": json.dumps({**work, "folder": "", "result": RESULT})}
        run = manifest("testrun")
        run["spec"]["parallelism"] = parallelism
        for part in ("runner", "starter"):
            run["spec"][part]["image"] = self.image
        meters = self._meters(work["target"])
        things = [document, *meters, run]
        # What an interrupted run left would be taken for this one's.
        self.cluster.delete(*things)
        try:
            self.cluster.apply(document, *meters)
            names = [meter["metadata"]["name"] for meter in meters]
            for name in names:
                self._await_meter(name)
            self.cluster.apply(run)
            name = run["metadata"]["name"]
            stage = self._await_run(name, work)
            return Found(
                stage,
                self._logs(f"k6_cr={name},runner=true"),
                self._logs(f"k6_cr={name},runner!=true"),
                {meter: self.cluster.logs(meter) for meter in names},
            )
        finally:
            self.cluster.delete(*reversed(things))

    def _meters(self, target: str) -> list[dict]:
        """One for each node that a container of the target is on."""
        nodes: dict[str, list[str]] = {}
        for process, container in self.places.targets[target].containers.items():
            node, identity = self.cluster.container(container)
            nodes.setdefault(node, []).append(f"{process}={identity}")
        found = []
        for number, (node, containers) in enumerate(sorted(nodes.items())):
            pod = manifest("meter")
            pod["metadata"]["name"] += f"-{number}"
            pod["spec"]["nodeName"] = node
            (container,) = pod["spec"]["containers"]
            container["image"] = self.image
            (told,) = [variable for variable in container["env"] if variable["name"] == "CONTAINERS"]
            told["value"] = " ".join(containers)
            found.append(pod)
        return found

    def _await_meter(self, name: str) -> None:
        def reads() -> bool:
            phase = self.cluster.get("pod", name)["status"]["phase"]
            if phase in ("Failed", "Succeeded"):
                raise ClusterFailed(f"pod {name} ended: {self.cluster.logs(name).strip()[-2000:]}")
            return phase == "Running" and bool(merge.samples(self.cluster.logs(name)))

        self.cluster.wait(f"pod {name} reads no counters", OVERHEAD_SECONDS, reads)

    def _await_run(self, name: str, work: dict) -> str:
        """The stage that it ends in."""
        stage = ""

        def ended() -> bool:
            nonlocal stage
            stage = self.cluster.get("testrun", name).get("status", {}).get("stage", "")
            # "stopped" is a step on the way to "finished".
            return stage in ("finished", "error")

        seconds = FIXED_SECONDS if work["workload"]["kind"] == "fixed" else work["workload"]["seconds"]
        self.cluster.wait(f"TestRun {name} does not end", OVERHEAD_SECONDS + seconds, ended)
        return stage

    def _logs(self, selector: str) -> dict[str, str]:
        pods = [pod["metadata"]["name"] for pod in self.cluster.pods(selector)]
        return {pod: self.cluster.logs(pod) for pod in sorted(pods)}
