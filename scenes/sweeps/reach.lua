-- Brings the hand (its wrist) to a point at `radius` and `height` in the plane y = 0, and holds it there. SI.
local AXIS, LINK = 1.5, 2.5 -- m: height of the joint base; length of both links
local MOST = 1              -- rad/s

-- Angles of base and middle, both 0 straight up, positive towards +x; the nearest where the point is out of reach.
local function inverse(radius, height)
  local up = height - AXIS
  local cosine = (radius * radius + up * up) / (2 * LINK * LINK) - 1
  local middle = math.acos(math.max(-1, math.min(1, cosine)))
  return math.atan(radius, up) - middle / 2, middle
end

local base, middle

function control(read, write)
  if not base then base, middle = inverse(read("radius"), read("height")) end
  local function hold(joint, angle)
    write(joint .. ".velocity", math.max(-MOST, math.min(MOST, 4 * (angle - read(joint .. ".position")))))
  end
  hold("base", base)
  hold("middle", middle)
  hold("swivel", 0)
  hold("wrist", math.max(-1.5, math.min(1.5, math.pi / 2 - base - middle))) -- the hand is level
end
