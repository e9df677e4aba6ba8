--- Where the headings were in each state of a chat that undo can go to: what redo brings back has lost its marks.

---@class ollm.History
---@field buf integer
---@field states table<integer, table<integer, integer>> The rows of marks, by the number that undo gives a state.
local History = {}
History.__index = History

---@param buf integer
---@return ollm.History
function History.new(buf)
  return setmetatable({ buf = buf, states = {} }, History)
end

---@return integer
function History:_now()
  return vim.fn.undotree(self.buf).seq_cur
end

--- Remember where they are now.
---@param rows table<integer, integer>
function History:keep(rows)
  self.states[self:_now()] = rows
end

--- Where they were when the text was what it is now.
---@return table<integer, integer>
function History:rows()
  return self.states[self:_now()] or {}
end

return History
