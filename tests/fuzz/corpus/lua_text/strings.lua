return "\z \x41\065\
" .. '..'
