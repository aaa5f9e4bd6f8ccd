--- sc.data.rotate: rotates images whose pixels are the columns of a matrix.
local core = require "scullery.core"
local options = require "scullery.base.options"

local images = {}

local rules = options.declare("data.rotate", { height = { type = "integer", low = 1 },
  width = { type = "integer", low = 1 } })

-- Height and width of images of d pixels; square by default. Raises an error unless their product
-- is d.
local function shape_of(d, o)
  local height = o.height or o.width and d // o.width or math.floor(math.sqrt(d) + 0.5)
  local width = o.width or o.height and d // height or height
  if height * width ~= d then
    error(("%d columns are not an image of %d x %d pixels: give its 'height' and 'width'"):format(d,
      height, width), 0)
  end
  return height, width
end

local function check_angle(angle)
  if type(angle) ~= "number" or angle ~= angle or math.abs(angle) == math.huge then
    error("takes an angle in degrees, or a list with one for each row; it got "
      .. options.show(angle), 0)
  end
  return angle
end

-- A function i -> the angle of row i, and the number of rows of the result. n: the rows of X; one
-- row with a list of angles gives a row for each angle.
local function angles_of(angles, n)
  if type(angles) ~= "table" or getmetatable(angles) then
    check_angle(angles)
    return function() return angles end, n
  end
  if n ~= 1 and #angles ~= n then
    error(("%d angles for %d rows"):format(#angles, n), 0)
  end
  for i = 1, #angles do check_angle(angles[i]) end
  return function(i) return angles[i] end, #angles
end

-- The image rotated by an angle in degrees, as a list of pixels. Each pixel of the result is
-- interpolated between the four pixels around the point that is moved to it; pixels outside the
-- image count as 0.
local function turn(pixels, height, width, angle)
  local c, s = math.cos(math.rad(angle)), math.sin(math.rad(angle))
  local y0, x0, out = (height + 1) / 2, (width + 1) / 2, {}
  local function pixel(i, j)
    return i >= 1 and i <= height and j >= 1 and j <= width and pixels[(i - 1) * width + j] or 0
  end
  for i = 1, height do
    for j = 1, width do
      local y, x = y0 + c * (i - y0) + s * (j - x0), x0 - s * (i - y0) + c * (j - x0)
      local top, left = math.floor(y), math.floor(x)
      local down, right = y - top, x - left
      out[#out + 1] = (1 - down) * ((1 - right) * pixel(top, left) + right * pixel(top, left + 1))
        + down * ((1 - right) * pixel(top + 1, left) + right * pixel(top + 1, left + 1))
    end
  end
  return out
end

local function rotate(X, angles, given)
  X = core.matrix(X)
  local o = options.check("data.rotate", given, rules, 0)
  local height, width = shape_of(X:cols(), o)
  local angle_of, n = angles_of(angles, X:rows())
  local rows = {}
  for i = 1, n do
    local pixels = X:row(X:rows() == 1 and 1 or i):totable()[1]
    rows[i] = turn(pixels, height, width, angle_of(i))
  end
  if n == 0 then return core.zeros(0, X:cols(), { dtype = X:dtype() }) end
  return core.matrix(rows, { dtype = X:dtype() })
end

--- sc.data.rotate(X, degrees[, { height =, width = }]): images rotated about their centre,
--- counterclockwise, by bilinear interpolation; pixels from outside the image are 0. X: one image
--- in each row, its pixels row by row from the top, as in MNIST. degrees: a number, or a list with
--- one for each row; a single image with a list gives a row for each angle. height and width of the
--- images: by default they are square.
function images.rotate(X, degrees, given)
  return options.guard("data.rotate", 1, rotate, X, degrees, given)
end

return images
