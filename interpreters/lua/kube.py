"""The host side of require("kube"): text in, text or a number out, never an exception or an object.

Whatever is raised ends here: an exception that crossed into Lua would be an object of the host in a script's hands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from interpreters.core.decoder_errors import UNREADABLE, misfit
from interpreters.core.errors import InterpError
from interpreters.core.pod_dependencies import pod_dependencies
from interpreters.core.pods import pod_requirements
from interpreters.core.quantity import ZERO, Quantity

Answer = tuple[bool, bytes | float]  # whether it worked, and the answer or what went wrong

OUT_OF_MEMORY: Final = b"not enough memory"


def _answering(function: Callable[..., bytes | float]) -> Callable[..., Answer]:
    def answer(*texts: bytes) -> Answer:
        try:
            return True, function(*texts)
        except InterpError as error:
            return False, str(error).encode()
        except UNREADABLE as error:
            return False, f"unreadable argument: {misfit(error)}".encode()
        except OverflowError:
            return False, b"the number is too large"
        except MemoryError:
            return False, OUT_OF_MEMORY
        except Exception as error:  # a mistake of ours
            return False, f"kube failed: {type(error).__name__}".encode()

    return answer


def _requirements(template: bytes) -> bytes:
    return msgspec.json.encode(pod_requirements(msgspec.json.decode(template)))


def _dependencies(template: bytes, namespace: bytes) -> bytes:
    return msgspec.json.encode(pod_dependencies(msgspec.json.decode(template), namespace.decode()))


def _quantity(text: bytes) -> float:
    return float(Quantity.parse(text.decode()))


def _sum(texts: bytes) -> bytes:
    """`+` and the quantities, one a line."""
    return str(sum((Quantity.parse(text) for text in texts[1:].decode().split("\n")), ZERO)).encode()


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "requirements": _answering(_requirements),
    "dependencies": _answering(_dependencies),
    "quantity": _answering(_quantity),
    "sum": _answering(_sum),
}
