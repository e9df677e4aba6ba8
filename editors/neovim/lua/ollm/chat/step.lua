--- A step of undo: what belongs together is undone together, however long it takes until all of it is written.
local api = vim.api

---@class ollm.Step
---@field buf integer
---@field tick? integer The state of the buffer after the last change of this step.
local Step = {}
Step.__index = Step

---@param buf integer
---@return ollm.Step
function Step.new(buf)
  return setmetatable({ buf = buf }, Step)
end

--- Whatever is changed next belongs to another step.
function Step:close()
  self.tick = nil
end

--- Whether somebody else has changed the buffer since.
---@return boolean
function Step:is_disturbed()
  return self.tick ~= api.nvim_buf_get_changedtick(self.buf)
end

--- Change the buffer in this step. What others have changed since is a step of its own.
---@param change fun()
function Step:take(change)
  local is_mine = not self:is_disturbed()
  api.nvim_buf_call(self.buf, function()
    if is_mine then
      pcall(vim.cmd.undojoin)
    else
      -- To set this option, even to what it is, ends what Neovim would undo at once.
      vim.bo.undolevels = vim.bo.undolevels
    end
  end)
  change()
  self.tick = api.nvim_buf_get_changedtick(self.buf)
end

--- Change the buffer so that it cannot be undone, and nothing before either.
---@param change fun()
function Step:fixed(change)
  local levels = vim.bo[self.buf].undolevels
  vim.bo[self.buf].undolevels = -1
  change()
  vim.bo[self.buf].undolevels = levels
  self:close()
end

return Step
