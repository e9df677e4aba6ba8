--- Text of others as people can judge it: what cannot be seen is spelt out.
local M = {}

--- Controls, formats, blanks that are no space, letters without ink, and private ones; the bracket of a spelling, too.
-- stylua: ignore
local UNSEEN = {
  { 0x00, 0x08 }, { 0x0A, 0x1F }, { 0x7F, 0xA0 }, { 0xAD, 0xAD }, { 0x34F, 0x34F }, { 0x600, 0x605 }, { 0x61C, 0x61C },
  { 0x6DD, 0x6DD }, { 0x70F, 0x70F }, { 0x890, 0x891 }, { 0x8E2, 0x8E2 }, { 0x115F, 0x1160 }, { 0x1680, 0x1680 },
  { 0x17B4, 0x17B5 }, { 0x180B, 0x180F }, { 0x2000, 0x200F }, { 0x2028, 0x202F }, { 0x205F, 0x206F }, { 0x27E8, 0x27E8 },
  { 0x2800, 0x2800 }, { 0x3000, 0x3000 }, { 0x3164, 0x3164 }, { 0xD800, 0xF8FF }, { 0xFE00, 0xFE0F }, { 0xFEFF, 0xFEFF },
  { 0xFFA0, 0xFFA0 }, { 0xFFF0, 0xFFFB }, { 0x110BD, 0x110BD }, { 0x110CD, 0x110CD }, { 0x13430, 0x1343F },
  { 0x16FE4, 0x16FE4 }, { 0x1BCA0, 0x1BCA3 }, { 0x1D159, 0x1D159 }, { 0x1D173, 0x1D17A }, { 0xE0000, 0x10FFFF },
}

---@param code integer
---@return boolean
local function is_unseen(code)
  for _, range in ipairs(UNSEEN) do
    if code <= range[2] then
      return code >= range[1]
    end
  end
  return false
end

--- A line with what cannot be seen spelt out like ⟨U+202E⟩.
---@param line string
---@return string
function M.line(line)
  if not line:find("[%z\1-\8\10-\31\127-\255]") then
    return line
  end
  local shown = line:gsub("[%z\1-\127\194-\244][\128-\191]*", function(letter)
    local code = vim.fn.char2nr(letter, true)
    return is_unseen(code) and ("⟨U+%04X⟩"):format(code) or letter
  end)
  return shown
end

return M
