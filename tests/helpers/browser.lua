--- A page as a headless browser sees it, without network.
local support = dofile("tests/helpers/support.lua")

local browser = {}

--- browser.name(): the browser's command, or nil where there is none.
function browser.name()
  for _, name in ipairs{ "chromium", "chromium-browser", "google-chrome" } do
    if support.shell("command -v " .. name) == 0 then return name end
  end
end

--- browser.dom(path): the page after the browser has read it, as HTML. Errors are the browser's.
function browser.dom(path)
  local folder = os.tmpname()
  os.remove(folder)
  local status, out, err = support.shell(("timeout 360 %s --headless --no-sandbox --disable-gpu \z
    --disable-dev-shm-usage --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir=%s --dump-dom \z
    %s"):format(browser.name(), folder, support.quote("file://" .. path)))
  support.shell("rm -rf " .. folder)
  if status ~= 0 then error("the browser failed: " .. err, 0) end
  return out
end

return browser
