function f(...) return ..., select("#", ...) end
