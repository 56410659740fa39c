-- Holds the chassis where it is.
function control(read, write)
end
