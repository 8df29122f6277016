for i=1,2 do goto continue ::continue:: end
