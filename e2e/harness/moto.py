"""moto, which answers as AWS KMS does, with one key. It asks nobody who they are."""

import sys
import urllib.request

import boto3

from harness.ports import LOOPBACK, free_port
from harness.process import Process
from harness.workdir import WorkDir

REGION = "eu-central-1"


class Moto:
    def __init__(self, work: WorkDir) -> None:
        self._port = free_port()
        self._arn = ""
        self.process = Process("moto", work.log("moto"))

    @property
    def endpoint(self) -> str:
        return f"http://{LOOPBACK}:{self._port}"

    @property
    def kek_uri(self) -> str:
        return f"aws-kms://{self._arn}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL_KMS": self.endpoint,
            "AWS_ACCESS_KEY_ID": "anyone",
            "AWS_SECRET_ACCESS_KEY": "a secret access key",
        }

    def start(self) -> None:
        self.process.start([sys.executable, "-m", "moto.server", "-H", LOOPBACK, "-p", str(self._port)])
        self.process.wait_until(self._answers)
        self._arn = self.create_key()

    def stop(self) -> None:
        self.process.stop()

    def create_key(self) -> str:
        return self.client().create_key()["KeyMetadata"]["Arn"]

    def client(self):
        return boto3.client(
            "kms", region_name=REGION, endpoint_url=self.endpoint, aws_access_key_id="admin", aws_secret_access_key="-"
        )

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.endpoint}/moto-api/data.json") as answer:
                return answer.status == 200
        except OSError:
            return False
