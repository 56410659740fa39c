-- A driver of either concept: fetches the tube circle2 and hangs it on the lowest peg of the red left rack's middle column.
-- Physics are off: what is written is where things are. Angles are rad, lengths m.
local SPEED, ACCELERATION = 2.5, 2.5 -- m/s, m/s²
local ARM_RATE, DWELL = 2.5, 0.4     -- rad/s; s to grab or to let go
local REACH, FLOOR = 1.3, 0.1        -- from the arm's axis to the grip; height at which a tube is grabbed
local RIM = 0.22                     -- m: of a tube, from its middle: that is where it is held
local PEG_X, PEG_Y, PEG_Z = 7.72, 1.9, 1.08

-- Where the arm's axis is on each robot, and on which sides it works: +1 in front, −1 behind.
local ROBOTS = {
  ["concept-symmetric"] = {x = 0, z = 1.06, sides = {1, -1}},
  ["concept-turnaround"] = {x = -0.36, z = 1.35, sides = {1}},
}

local robot, dt
local pose = {x = 1.8, y = 1.9, heading = 0, arm = 0, speed = 0}
local stage, waited, side, lined_up = "to tube", 0, 1, false

local function wrap(angle)
  return angle - 2 * math.pi * math.floor((angle + math.pi) / (2 * math.pi))
end

local function approach(value, target, step)
  return math.max(value - step, math.min(value + step, target))
end

-- The side on which the least turning brings the grip to (x, y).
local function best_side(x, y)
  local best, least
  for _, each in ipairs(robot.sides) do
    local turn = math.abs(wrap(math.atan(y - pose.y, x - pose.x) + (each < 0 and math.pi or 0) - pose.heading))
    if not least or turn < least then best, least = each, turn end
  end
  return best
end

-- The arm's angle with the grip at height z, and how far from the robot's middle the tube's middle then is.
local function arm_for(z)
  local down = math.asin((robot.z - z) / REACH)
  local out = REACH * math.cos(down) + RIM
  if side > 0 then return down, out + robot.x end
  return -math.pi - down, out - robot.x
end

-- Turns, then drives straight, until what is so far away from its middle is over (x, y); true when it is there.
local function bring(x, y, distance, turn_rate)
  local dx, dy = x - pose.x, y - pose.y
  local away = math.sqrt(dx * dx + dy * dy) - distance
  local way = math.atan(dy, dx)
  local turn = wrap(way + (side < 0 and math.pi or 0) - pose.heading)
  if pose.speed == 0 and math.abs(turn) > 1e-3 then
    pose.heading = wrap(pose.heading + approach(0, turn, turn_rate * dt))
    return false
  end
  local most = math.sqrt(2 * ACCELERATION * math.abs(away))
  pose.speed = math.min(approach(pose.speed, SPEED, ACCELERATION * dt), most, math.abs(away) / dt)
  local step = pose.speed * dt * (away < 0 and -1 or 1)
  pose.x = pose.x + step * math.cos(way)
  pose.y = pose.y + step * math.sin(way)
  if math.abs(away) > 1e-4 then return false end
  pose.speed = 0
  return true
end

local function dwell()
  waited = waited + dt
  if waited < DWELL then return false end
  waited = 0
  return true
end

function control(read, write)
  if not robot then
    robot = ROBOTS[read("robot")]
    local tube = {x = read("tube_x"), y = read("tube_y"), z = 0.075, qw = 1, qx = 0, qy = 0, qz = 0}
    for key, value in pairs(tube) do write("circle2." .. key, value) end
    side = best_side(tube.x, tube.y)
    dt = 0.01 -- s, a tick
  end
  local tube_x, tube_y, turn_rate = read("tube_x"), read("tube_y"), read("turn_rate")
  local grip = 0
  if stage == "to tube" then
    local arm, out = arm_for(FLOOR)
    pose.arm = approach(pose.arm, arm, ARM_RATE * dt)
    local there = bring(tube_x, tube_y, out, turn_rate)
    if there and pose.arm == arm then stage = "grab" end
  elseif stage == "grab" then
    grip = 1
    if dwell() then
      stage = "to peg"
      side = best_side(PEG_X, PEG_Y)
    end
  elseif stage == "to peg" then
    grip = 1
    local arm, out = arm_for(PEG_Z)
    pose.arm = approach(pose.arm, arm, ARM_RATE * dt)
    local before = PEG_X - 1.2 - out -- a way point, so that it comes to the peg straight
    if not lined_up then
      lined_up = bring(before, PEG_Y, 0, turn_rate)
      if lined_up then side = best_side(PEG_X, PEG_Y) end
    elseif bring(PEG_X, PEG_Y, out, turn_rate) and pose.arm == arm then
      stage = "hang"
    end
  elseif stage == "hang" then
    grip = dwell() and 0 or 1
    if grip == 0 then stage = "done" end
  end
  write("x", pose.x)
  write("y", pose.y)
  write("heading", pose.heading)
  write("arm.position", pose.arm)
  write("grip", grip)
end

-- How far it turned, all told: a metric.
function turned(read, count, tick)
  local sum = 0
  for k = 2, count do sum = sum + math.abs(wrap(read("chassis.heading", k) - read("chassis.heading", k - 1))) end
  return sum
end
