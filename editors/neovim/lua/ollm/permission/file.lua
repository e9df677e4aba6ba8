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

---@return boolean
function File:is_split()
  return self.other ~= nil and api.nvim_buf_is_valid(self.other)
end

--- Draw the places anew, wherever edits have moved them.
---@param label fun(hunk: ollm.Hunk): string
function File:draw(label)
  local rows = {} ---@type integer[]
  for index in ipairs(self.hunks) do
    rows[index] = self:row(index)
  end
  local other = self:is_split() and self.other or nil
  inline.clear(self.buf)
  if other then
    inline.clear(other)
  end
  for index, hunk in ipairs(self.hunks) do
    local words = label(hunk)
    if other then
      self.marks[index] = inline.label(self.buf, rows[index], words)
      inline.label(other, self:row(index, other), words)
    elseif self.is_new then
      local all = { first = 1, removed = hunk.added, added = {} }
      self.marks[index] = inline.draw(self.buf, 0, all, words, "OllmAdded")
    else
      self.marks[index] = inline.draw(self.buf, rows[index], hunk, words)
    end
  end
end

--- Where a place is: the rows of its lines. Between two lines there are none, and the last comes before the first.
---@param index integer
---@param buf integer
---@return integer first
---@return integer last
function File:_span(index, buf)
  local hunk = self.hunks[index]
  local first, count = hunk.first - 1, #hunk.removed
  if self.is_new then
    return 0, #hunk.added - 1
  end
  if buf == self.other then
    for before = 1, index - 1 do
      first = first + #self.hunks[before].added - #self.hunks[before].removed
    end
    return first, first + #hunk.added - 1
  end
  if self.marks[index] then
    first = inline.row(buf, self.marks[index])
    if count == 0 and hunk.first > 1 then
      first = first + 1
    end
  end
  return first, first + count - 1
end

--- The row of a place; what is between two lines is at the first of them.
---@param index integer
---@param buf? integer By default that of the file.
---@return integer
function File:row(index, buf)
  buf = buf or self.buf
  local first, last = self:_span(index, buf)
  return math.max(0, math.min(first, last >= first and first or last, api.nvim_buf_line_count(buf) - 1))
end

--- Go to a place in the current window, with all that would come there on the screen.
---@param index integer
function File:go(index)
  local hunk = self.hunks[index]
  api.nvim_win_set_cursor(0, { self:row(index, api.nvim_get_current_buf()) + 1, 0 })
  if hunk.first == 1 and #hunk.removed == 0 and not self.is_new and not self:is_split() then
    -- What is above the first line is shown only when it is asked for.
    vim.fn.winrestview({ topline = 1, topfill = #hunk.added })
  end
end

--- The place that has a row, or is just beside it.
---@param row integer
---@param buf integer
---@return integer?
function File:at(row, buf)
  local beside
  for index in ipairs(self.hunks) do
    local first, last = self:_span(index, buf)
    if row >= first and row <= last then
      return index
    end
    if not beside and row >= first - 1 and row <= last + 1 then
      beside = index
    end
  end
  return beside
end

--- Show old and new text in two windows. A new file has no old text.
---@return integer? buf The one with the new text, if it was not there before.
function File:split()
  if self.is_new or self:is_split() then
    return nil
  end
  inline.clear(self.buf)
  self.marks = {}
  self.other = preview(self.path, self.wanted, self.old)
  vim.bo[self.other].bufhidden = "wipe"
  vim.cmd.diffthis()
  vim.cmd("rightbelow vertical sbuffer " .. self.other)
  vim.cmd.diffthis()
  vim.cmd.wincmd("p")
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
  local other = self.other
  if other then
    for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
      api.nvim_win_call(win, vim.cmd.diffoff)
    end
  end
  if other and self:is_split() then
    api.nvim_buf_delete(other, { force = true })
  end
  self.other, self.marks = nil, {}
  if self.is_new and api.nvim_buf_is_valid(self.buf) then
    api.nvim_buf_delete(self.buf, { force = true })
  end
end

return File
