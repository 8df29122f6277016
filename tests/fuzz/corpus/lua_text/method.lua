local o = {} function o:m() self.x = 1 end o:m()
