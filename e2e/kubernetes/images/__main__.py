"""`python -m kubernetes.images [NAME…]`: makes the archives, all unless some are named, and prints where they are."""

import sys

from kubernetes.images.build import build
from kubernetes.images.definitions import IMAGES


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in IMAGES]
    if unknown:
        print(f"no such image: {', '.join(unknown)}; there are: {', '.join(IMAGES)}", file=sys.stderr)
        return 2
    for name in names or IMAGES:
        print(IMAGES[name].reference, build(name), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
