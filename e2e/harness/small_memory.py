"""A module that traps when it is given much to do: as it is shipped, but that its memory ends after a few pages.

No input that traps the shipped module is known, and tests of what follows a trap must not need one.
"""

from pathlib import Path

HEADER_BYTES = 8
MEMORY_SECTION = 5
HAS_MAXIMUM = 1
# Of 64 KiB each: twice what a worker with a few sessions takes.
PAGES = 96
# More than that memory holds, in one message or value.
TOO_MUCH_BYTES = 6 << 20


def with_small_memory(module: Path, target: Path) -> Path:
    """Writes the module to `target` with a limit of its memory in place of what its memory section says."""
    code = module.read_bytes()
    written, at, limited = bytearray(code[:HEADER_BYTES]), HEADER_BYTES, False
    while at < len(code):
        section = code[at]
        size, start = _number(code, at + 1)
        content, at = code[start : start + size], start + size
        if section == MEMORY_SECTION:
            (count, flags), (least, _) = content[:2], _number(content, 2)
            assert count == 1, f"{module} has {count} memories"
            assert not flags & ~HAS_MAXIMUM, f"{module} has a memory with the flags {flags}"
            assert least < PAGES, f"{module} starts with {least} pages"
            content, limited = bytes((1, HAS_MAXIMUM)) + _encoded(least) + _encoded(PAGES), True
        written += bytes((section,)) + _encoded(len(content)) + content
    assert limited, f"{module} has no memory section"
    target.write_bytes(written)
    return target


def _number(code: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number, and where it ends."""
    number = shift = 0
    while True:
        byte = code[at]
        number, shift, at = number | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80:
            return number, at


def _encoded(number: int) -> bytes:
    groups = bytearray()
    while number >= 0x80:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*groups, number))
