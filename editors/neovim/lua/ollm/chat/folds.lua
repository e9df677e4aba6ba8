--- Thoughts and tool calls are folded; warnings and errors are not.
local render = require("ollm.render")

local M = {}

--- For 'foldexpr'.
---@param number integer
---@return string
function M.level(number)
  local line = vim.fn.getline(number) --[[@as string]]
  if vim.startswith(line, render.FOLD) then
    return ">1"
  end
  if vim.startswith(line, ">") and not vim.startswith(line, "> [!ollm]") then
    return "="
  end
  return "0"
end

--- For 'foldtext'.
---@return string
function M.text()
  local line = vim.fn.getline(vim.v.foldstart) --[[@as string]]
  local title = line:sub(#render.FOLD + 1)
  return ("▸ %s (%d lines)"):format(title, vim.v.foldend - vim.v.foldstart)
end

return M
