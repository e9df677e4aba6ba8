--- One file of a proposal: its buffer, the places that would change, and the user's verdicts about them.
local hunks = require("ollm.hunks")
local inline = require("ollm.permission.inline")
local visible = require("ollm.visible")

local api = vim.api

---@class ollm.File
---@field change table As `ollm/permission` has it.
---@field name string
---@field path string
---@field buf integer The file's own buffer, or a preview of a file that is new.
---@field is_new boolean
---@field old string[]
---@field wanted string[]
---@field hunks ollm.Hunk[]
---@field verdicts table<ollm.Hunk, boolean>
---@field marks integer[]
---@field other? integer The buffer with the new text, beside the file.
local File = {}
File.__index = File

--- A buffer with text of the proposal, in which nothing hides.
---@param path string
---@param new string[]
---@param old string[] Lines that the user has already.
---@return integer buf
local function preview(path, new, old)
  local known = {} ---@type table<string, true>
  for _, line in ipairs(old) do
    known[line] = true
  end
  local lines = vim.tbl_map(function(line)
    return known[line] and line or visible.line(line)
  end, new)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(buf, ("ollm-proposal://%s#%d"):format(path, buf))
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = "hide"
  local kind = vim.filetype.match({ filename = path, contents = lines })
  if kind then
    vim.bo[buf].filetype = kind
  end
  return buf
end

---@param text string
---@param buf? integer
---@return string[]
local function lines_of(text, buf)
  if buf and vim.bo[buf].fileformat == "dos" then
    text = text:gsub("\r\n", "\n")
  end
  return hunks.lines((text:gsub("\n$", "", 1)))
end

---@param change table As `ollm/permission` has it.
---@return ollm.File
function File.new(change)
  local path = vim.uri_to_fname(change.uri)
  local is_new = vim.fn.bufloaded(path) == 0 and not vim.uv.fs_stat(path)
  local self = setmetatable({
    change = change,
    name = vim.fn.fnamemodify(path, ":."),
    path = path,
    is_new = is_new,
    verdicts = {},
    marks = {},
  }, File)
  if is_new then
    self.wanted, self.old = lines_of(change.newText), {}
    self.buf = preview(path, self.wanted, {})
    self.hunks = { { first = 1, removed = {}, added = self.wanted } }
  else
    self.buf = vim.fn.bufadd(path)
    vim.fn.bufload(self.buf)
    vim.bo[self.buf].buflisted = true
    self.wanted = lines_of(change.newText, self.buf)
    self.old = api.nvim_buf_get_lines(self.buf, 0, -1, false)
    self.hunks = hunks.between(self.old, self.wanted)
    if #self.hunks == 0 then
      -- Only the end of the last line, or the line endings, would change.
      self.hunks = { { first = #self.old, removed = { self.old[#self.old] }, added = { self.wanted[#self.wanted] } } }
    end
  end
  return self
end

---@param label fun(hunk: ollm.Hunk): string
function File:draw(label)
  inline.clear(self.buf)
  for index, hunk in ipairs(self.hunks) do
    local shown = self.is_new and { first = 1, removed = hunk.added, added = {} } or hunk
    local words = label(hunk)
    if not self.other then
      self.marks[index] = inline.draw(self.buf, shown, words, self.is_new and "OllmAdded" or nil)
    end
  end
end

---@param index integer
---@return integer
function File:row(index)
  return self.marks[index] and inline.row(self.buf, self.marks[index]) or self.hunks[index].first - 1
end

--- Go to a place, with all that would come there on the screen.
---@param index integer
function File:go(index)
  local hunk = self.hunks[index]
  local row = math.min(self:row(index), api.nvim_buf_line_count(0) - 1)
  api.nvim_win_set_cursor(0, { row + 1, 0 })
  if hunk.first == 1 and #hunk.removed == 0 and not self.is_new then
    -- What is above the first line is shown only when it is asked for.
    vim.fn.winrestview({ topline = 1, topfill = #hunk.added })
  end
end

--- The place nearest to a row, which must be within its lines or just beside them.
---@param row integer
---@return integer?
function File:at(row)
  local best, distance
  for index, hunk in ipairs(self.hunks) do
    local first = self:row(index)
    local last = first + math.max(self.is_new and #hunk.added or #hunk.removed, 1) - 1
    local away = row < first and first - row or row > last and row - last or 0
    if not distance or away < distance then
      best, distance = index, away
    end
  end
  return best
end

--- Show old and new text in two windows.
---@return integer buf The one with the new text.
function File:split()
  if not self.other or not api.nvim_buf_is_valid(self.other) then
    self.other = preview(self.path, self.wanted, self.old)
    inline.clear(self.buf)
    vim.cmd.diffthis()
    vim.cmd("rightbelow vertical sbuffer " .. self.other)
    vim.cmd.diffthis()
    vim.cmd.wincmd("p")
  end
  return self.other
end

--- Whether the document still is what the user was shown.
---@return boolean
function File:is_as_shown()
  return self.is_new or vim.deep_equal(api.nvim_buf_get_lines(self.buf, 0, -1, false), self.old)
end

--- What the user wants of this file, as the server is told.
---@return { uri: string, newText: string }?
function File:chosen()
  local wanted = vim.tbl_filter(function(hunk)
    return self.verdicts[hunk]
  end, self.hunks)
  if #wanted == 0 then
    return nil
  end
  if #wanted == #self.hunks then
    return { uri = self.change.uri, newText = self.change.newText }
  end
  local ending = vim.bo[self.buf].fileformat == "dos" and "\r\n" or "\n"
  local text = table.concat(hunks.applied(self.old, wanted), ending)
  return { uri = self.change.uri, newText = text .. (vim.bo[self.buf].endofline and ending or "") }
end

--- Take everything off the screen that was there for the question.
function File:close()
  inline.clear(self.buf)
  if self.other and api.nvim_buf_is_valid(self.other) then
    local win = vim.fn.bufwinid(self.buf)
    api.nvim_buf_delete(self.other, { force = true })
    if win ~= -1 then
      api.nvim_win_call(win, vim.cmd.diffoff)
    end
  end
  self.other = nil
  if self.is_new and api.nvim_buf_is_valid(self.buf) then
    api.nvim_buf_delete(self.buf, { force = true })
  end
end

return File
