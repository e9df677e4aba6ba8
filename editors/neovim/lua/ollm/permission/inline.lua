--- Hunks drawn into a buffer: what goes is coloured, what comes stands below it as virtual lines.
local visible = require("ollm.visible")

local api = vim.api
local ns = api.nvim_create_namespace("ollm.review")
local M = {}

--- How many columns a virtual line has in the narrowest window of a buffer; what is longer would be cut.
---@param buf integer
---@return integer
local function width(buf)
  local least = vim.o.columns
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    least = math.min(least, api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff)
  end
  return math.max(least, 20)
end

--- A line cut into pieces that fit.
---@param line string
---@param columns integer
---@return string[]
function M.wrapped(line, columns)
  local pieces = {}
  repeat
    local count = columns
    while count > 1 and vim.fn.strdisplaywidth(vim.fn.strcharpart(line, 0, count)) > columns do
      count = count - 1
    end
    local piece = vim.fn.strcharpart(line, 0, count)
    table.insert(pieces, piece)
    line = line:sub(#piece + 1)
  until line == ""
  return pieces
end

---@param buf integer
---@param lines string[]
---@return table[]
local function virtual(buf, lines)
  local columns, blanks = width(buf), (" "):rep(vim.bo[buf].tabstop)
  local all = {}
  for _, line in ipairs(lines) do
    for _, piece in ipairs(M.wrapped(visible.line((line:gsub("\t", blanks))), columns)) do
      local room = columns - vim.fn.strdisplaywidth(piece)
      table.insert(all, { { piece .. (" "):rep(room), "OllmAdded" } })
    end
  end
  return all
end

--- Write behind a line.
---@param buf integer
---@param row integer
---@param label string
---@return integer mark Where it is, also after edits above it.
function M.label(buf, row, label)
  return api.nvim_buf_set_extmark(buf, ns, row, 0, { virt_text = { { " " .. label, "OllmInfo" } } })
end

--- Draw a hunk.
---@param buf integer
---@param first integer The row of the first line that goes, or of the one after which something comes.
---@param hunk ollm.Hunk
---@param label string
---@param colour? string Of the lines that are there; by default they go.
---@return integer mark Where it is, also after edits above it.
function M.draw(buf, first, hunk, label, colour)
  local last = math.min(first + math.max(#hunk.removed, 1), api.nvim_buf_line_count(buf)) - 1
  for row = first, #hunk.removed > 0 and last or first - 1 do
    api.nvim_buf_set_extmark(buf, ns, row, 0, { line_hl_group = colour or "OllmRemoved" })
  end
  if #hunk.added > 0 then
    api.nvim_buf_set_extmark(buf, ns, last, 0, {
      virt_lines = virtual(buf, hunk.added),
      virt_lines_above = #hunk.removed == 0 and hunk.first == 1,
    })
  end
  return M.label(buf, first, label)
end

--- The row of a drawn hunk.
---@param buf integer
---@param mark integer
---@return integer
function M.row(buf, mark)
  return api.nvim_buf_get_extmark_by_id(buf, ns, mark, {})[1] or 0
end

---@param buf integer
function M.clear(buf)
  if api.nvim_buf_is_valid(buf) then
    api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  end
end

return M
