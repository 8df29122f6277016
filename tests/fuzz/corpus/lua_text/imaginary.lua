--ax = 2i
