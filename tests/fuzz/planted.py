"""A reader with a mistake, to see that the fuzzer finds one."""


def check(data: bytes) -> None:
    assert not data.startswith(b"{{"), "found"
