"""A small interpreter of classic BPF, enough to ask a seccomp program what it answers without installing it."""

from __future__ import annotations

import struct


def verdict(program: bytes, architecture: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """The program's return value for one system call."""
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    facts = struct.pack("<IIQ6Q", number, architecture, 0, *padded)
    steps = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    accumulator, at = 0, 0
    while True:
        code, when_true, when_false, value = steps[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", facts, value)
        elif code == 0x54:
            accumulator &= value
        elif code == 0x15:
            at += when_true if accumulator == value else when_false
        elif code == 0x06:
            return value
        else:
            raise AssertionError(f"unknown instruction {code:#x}")
