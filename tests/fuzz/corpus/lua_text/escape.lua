end local x = 1 if true then
