--- Events are gathered for a moment, so that a fast model does not make the editor slow.

--- Milliseconds between two looks at what has come.
local PACE = 40

---@class ollm.Stream
---@field take fun(events: table[])
---@field queue table[]
---@field timer uv.uv_timer_t
local Stream = {}
Stream.__index = Stream

---@param take fun(events: table[])
---@return ollm.Stream
function Stream.new(take)
  return setmetatable({ take = take, queue = {}, timer = assert(vim.uv.new_timer()) }, Stream)
end

---@param event table
function Stream:push(event)
  table.insert(self.queue, event)
  if not self.timer:is_closing() and not self.timer:is_active() then
    local flush = vim.schedule_wrap(function()
      self:flush()
    end)
    self.timer:start(PACE, 0, flush)
  end
end

function Stream:flush()
  local events = self.queue
  self.queue = {}
  if #events > 0 then
    self.take(events)
  end
end

--- Take what is left.
function Stream:close()
  if not self.timer:is_closing() then
    self.timer:close()
  end
  self:flush()
end

return Stream
