-- Drives straight, in −x, at `speed`, until the bumper has pushed the tube, then stops. SI.
local RADIUS, STOP_AT = 0.0762, 0.2 -- m: of a wheel; x of the chassis at which it brakes

function control(read, write)
  local wheels = read("chassis.x") > STOP_AT and read("speed") / RADIUS or 0
  write("left_wheel.velocity", wheels)
  write("right_wheel.velocity", wheels)
  write("arm.velocity", 4 * (-1 - read("arm.position"))) -- up, out of the way
  write("wrist.velocity", 0)
end

-- A metric: how far the tube went after it was as fast as it ever was.
function slid(read, count, tick)
  local fastest = 1
  for k = 2, count do
    if read("circle2.vx", k) < read("circle2.vx", fastest) then fastest = k end
  end
  return read("circle2.x", fastest) - read("circle2.x", count)
end
