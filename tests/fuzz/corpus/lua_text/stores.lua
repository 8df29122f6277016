local t = {}
t.a = 1 t["b"] = 2 t[t.a], t.c = 3, 4
