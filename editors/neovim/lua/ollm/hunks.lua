--- The places where a text would change, and the text with some of these changes made. Pure.
local compat = require("ollm.compat")

local M = {}

---@class ollm.Hunk
---@field first integer The first line that goes, from 1; without one, the line before which the new ones come.
---@field removed string[]
---@field added string[]

---@param lines string[]
---@param first integer
---@param count integer
---@return string[]
local function slice(lines, first, count)
  return vim.list_slice(lines, first, first + count - 1)
end

--- How many lines there must be for the end of a text to count as well.
---@param text string
---@return string[]
function M.lines(text)
  return vim.split(text, "\n", { plain = true })
end

---@param old string[]
---@param new string[]
---@return ollm.Hunk[]
function M.between(old, new)
  local function text(lines)
    return table.concat(lines, "\n") .. "\n"
  end
  local hunks = {}
  for _, one in ipairs(compat.diff(text(old), text(new))) do
    local old_first, old_count, new_first, new_count = one[1], one[2], one[3], one[4]
    table.insert(hunks, {
      -- Where nothing goes, a diff names the line after which something comes.
      first = old_count == 0 and old_first + 1 or old_first,
      removed = slice(old, old_first, old_count),
      added = new_count == 0 and {} or slice(new, new_first, new_count),
    })
  end
  return hunks
end

--- The lines after some of the hunks were made.
---@param old string[]
---@param hunks ollm.Hunk[]
---@return string[]
function M.applied(old, hunks)
  local new, at = {}, 1
  for _, hunk in ipairs(hunks) do
    vim.list_extend(new, slice(old, at, hunk.first - at))
    vim.list_extend(new, hunk.added)
    at = hunk.first + #hunk.removed
  end
  return vim.list_extend(new, slice(old, at, #old - at + 1))
end

return M
