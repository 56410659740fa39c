-- How much faster the wheels turn than the robot goes, m/s: near 0 while they roll, large while they spin.
function slip(read)
  local wheels = (math.abs(read("left_wheel.velocity")) + math.abs(read("right_wheel.velocity"))) / 2
  return wheels * 0.0762 - math.sqrt(read("chassis.vx") ^ 2 + read("chassis.vy") ^ 2)
end
