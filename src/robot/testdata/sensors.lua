-- sensors of sensor_test.c
function double(read)
  return 2 * read("flywheel.velocity")
end

function broken(read)
  return read("flywheel.velocity") + nothing
end

function misnamed(read)
  return read("flywheel.speed")
end
