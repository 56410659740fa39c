-- What a controller may keep, in one file: local variables shared by functions, a global, nested tables with a circle,
-- functions made while it runs, chance.
local integral = 0
local function pid(gain)
  local sum, last = 0, nil
  local function step(error, dt)
    sum = sum + error * dt
    local slope = last and (error - last) / dt or 0
    last = error
    return gain * error + 0.3 * sum + 0.05 * slope
  end
  return step, function() return sum end
end

total = 0
history = {n = 0, list = {}, deep = {er = {still = 1 // 1}}}
history.self = history
local sine, noisy = math.sin, false
local base, base_sum

function control(read, write)
  if not base then
    base, base_sum = pid(read("gain"))
    history.read, history.kind = read, read("kind")
    by_key = {[base] = "step", [1.5] = "float", [false] = 0}
  end
  local dt = 1 / 60
  integral = integral + (0.4 - read("middle.position")) * dt
  total = total + math.random() - 0.5
  noisy = not noisy
  history.n = history.n + 1
  table.insert(history.list, read("swivel.velocity"))
  if #history.list > 20 then table.remove(history.list, 1) end
  history.deep.er.still = history.deep.er.still + 3
  write("swivel.velocity", sine(read("time") * 3) + 0.1 * total)
  write("base.velocity", base(0.3 - history.read("base.position"), dt) + base_sum() * 0.01)
  write("middle.velocity", 2 * integral + (noisy and 0.01 or 0))
end
