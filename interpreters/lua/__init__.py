"""The Lua engine and the bundled Lua scripts."""
