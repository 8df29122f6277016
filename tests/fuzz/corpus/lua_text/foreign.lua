x = 1LL
