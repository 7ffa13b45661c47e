"""The modules of a crate against its layers in `filters/layering.json`. Standard library only."""

from .reader import ROOT_MODULE, Arrow, Crate


def find(name: str, rules: dict, crate: Crate) -> list[str]:
    """What of the crate is not as its layers say: a module uses those of the layers below its own, and no other."""
    layers: list[list[str]] = rules["layers"]
    heights = {module: height for height, layer in enumerate(layers) for module in layer}
    problems = [f"{name}: {module} is in no layer" for module in crate.rooms - heights.keys()]
    problems += [f"{name}: {module} is in a layer, but no such module" for module in heights.keys() - crate.rooms]
    wrong = [
        *((arrow, f"uses {_shown(arrow.used)}") for arrow in crate.arrows() if not _is_down(arrow, heights)),
        *((arrow, f"gets methods from {arrow.used}") for arrow in crate.methods_elsewhere()),
    ]
    problems += [f"{name}: {arrow.user} {what}, which is not below it ({arrow.place})" for arrow, what in wrong]
    return problems


def _is_down(arrow: Arrow, heights: dict[str, int]) -> bool:
    # A module without a layer is a problem of its own.
    if arrow.user not in heights or arrow.used not in {*heights, ROOT_MODULE}:
        return True
    return arrow.used != ROOT_MODULE and heights[arrow.used] < heights[arrow.user]


def _shown(module: str) -> str:
    return "what lib.rs defines" if module == ROOT_MODULE else module
