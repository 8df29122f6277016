"""What LuaJIT's compiler says of a text without running it: its accesses to globals and its lines with code."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final


def global_accesses(text: str) -> list[tuple[str, int, bool]]:
    """Each read and write of a global: its name, its line, and whether it is a write. The text must compile."""
    rows = _listing()(text.encode())[1]
    return [(row[1], row[2], row[3]) for row in rows.values()]


def compiles(text: str) -> bool:
    from lupa.luajit21 import LuaError

    try:
        _listing()(text.encode(errors="surrogatepass"))
    except LuaError:
        return False
    return True


def code_lines(text: str) -> frozenset[int]:
    """The lines that some instruction belongs to. The text must compile."""
    return frozenset(_listing()(text.encode())[2].keys())


@lru_cache(maxsize=1)
def _listing() -> Any:
    from lupa.luajit21 import LuaRuntime

    return LuaRuntime(register_eval=False, register_builtins=False).execute(_LISTING)


_LISTING: Final = """
local util = require("jit.util")
local function opcode(fn, pc) return util.funcbc(fn, pc) % 256 end
-- The numbers of three instructions, learned from a text that has exactly these.
local probe = loadstring("x = y")
local READ, WRITE, END = opcode(probe, 1), opcode(probe, 2), opcode(probe, 3)
local function walk(fn, accesses, lines)
  local pc = 1
  local instruction = util.funcbc(fn, pc)
  while instruction do
    local code, line = instruction % 256, util.funcinfo(fn, pc).currentline
    if code == READ or code == WRITE then
      local name = util.funck(fn, -1 - math.floor(instruction / 65536))
      accesses[#accesses + 1] = { name, line, code == WRITE }
    end
    pc = pc + 1
    instruction = util.funcbc(fn, pc)
    -- The return behind the last statement is the compiler's own and may be out of reach.
    if line > 0 and (instruction or code ~= END) then lines[line] = true end
  end
  for n = -1, -1e9, -1 do
    local constant = util.funck(fn, n)
    if constant == nil then break end
    if type(constant) == "proto" then walk(constant, accesses, lines) end
  end
end
return function(text)
  local accesses, lines = {}, {}
  walk(assert(loadstring(text, "=script", "t")), accesses, lines)
  return { accesses, lines }
end
"""
