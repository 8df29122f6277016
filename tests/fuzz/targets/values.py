"""JSON values made of bytes, so that a fuzzer's small changes are small changes of a value."""

from typing import Any

_SCALARS = (None, True, False, 0, 1, -1, 0.5, 2.0, 2**53 + 1, 2**63, -(2**63), "", "a", "~1/", "é", 1e300)
_KEYS = ("a", "b", "", "/", "~", "~01", "spec", "é")


class Values:
    def __init__(self, data: bytes) -> None:
        self._bytes = iter(data)

    def take(self, depth: int = 4) -> Any:
        """The next value; when the bytes have run out, null."""
        byte = next(self._bytes, 0)
        kind, size = byte >> 6, byte & 7
        if depth and kind == 1:
            return [self.take(depth - 1) for _ in range(size)]
        if depth and kind == 2:
            return {_KEYS[next(self._bytes, 0) % len(_KEYS)]: self.take(depth - 1) for _ in range(size)}
        return _SCALARS[byte % len(_SCALARS)]
