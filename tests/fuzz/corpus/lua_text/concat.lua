return 1 .. 2 .. "a"
