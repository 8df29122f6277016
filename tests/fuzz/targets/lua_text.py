"""Lua source: what LuaJIT reads still compiles once prepared, and then holds no value that scripts may not have."""

from functools import cache
from typing import Any

from lupa.luajit21 import LuaRuntime

from interpreters.lua.concatenation import Unreadable, prepared, source_of

_COMPILE = """
local util = require("jit.util")
local function foreign(fn)
  for n = -1, -1e9, -1 do
    local constant = util.funck(fn, n)
    if constant == nil then return false end
    local kind = type(constant)
    if kind == "cdata" or kind == "proto" and foreign(constant) then return true end
  end
end
return function(text)
  local fn, problem = loadstring(text, "=script", "t")
  return fn ~= nil, fn ~= nil and foreign(fn), problem
end
"""


@cache
def _compiler() -> Any:
    return LuaRuntime(encoding=None, register_eval=False, register_builtins=False).execute(_COMPILE)


def check(data: bytes) -> None:
    try:
        source = source_of(data.decode())
    except (UnicodeDecodeError, Unreadable):
        return
    compiles, holds_foreign, _ = _compiler()(source)
    if not compiles:
        return
    try:
        text = prepared(source)
    except Unreadable as error:
        assert error.line >= 1
        assert holds_foreign or "malformed number" in error.problem
        return
    compiles, holds_foreign, problem = _compiler()(text)
    # A chain of a hundred `..` needs twice the registers, which LuaJIT may not have.
    assert compiles or b"too many" in problem or b"too complex" in problem, (problem, text)
    assert not holds_foreign, text
