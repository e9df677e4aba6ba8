--- A question about changes of files: shown in the files themselves, decided as a whole or place by place.
local File = require("ollm.permission.file")
local client = require("ollm.client")
local keys = require("ollm.permission.keys")
local options = require("ollm.options")
local visible = require("ollm.visible")

local api = vim.api

local KEYS = {
  accept = true,
  reject = true,
  accept_hunk = true,
  reject_hunk = true,
  feedback = true,
  diff = true,
  more = true,
}

---@class ollm.Review: ollm.View
---@field question ollm.Question
---@field files ollm.File[]
---@field unset fun()[]
---@field others string[] Changes that have no text, such as moves.
local Review = {}
Review.__index = Review

---@param question ollm.Question
---@return ollm.Review
function Review.new(question)
  local view = setmetatable({ question = question, files = {}, unset = {}, others = {} }, Review)
  for _, change in ipairs(question.params.changes) do
    if type(change.newText) == "string" then
      table.insert(view.files, File.new(change))
    else
      table.insert(view.others, vim.uri_to_fname(change.uri))
    end
  end
  for _, file in ipairs(view.files) do
    table.insert(view.unset, keys.set(file.buf, KEYS))
  end
  view:_draw()
  return view
end

---@return string
local function help()
  local chosen = options.current.review_keys
  return ("%s accept  %s reject  %s/%s this place  %s why not  %s more"):format(
    chosen.accept,
    chosen.reject,
    chosen.accept_hunk,
    chosen.reject_hunk,
    chosen.feedback,
    chosen.more
  )
end

function Review:_draw()
  local total, at = 0, 0
  for _, file in ipairs(self.files) do
    total = total + #file.hunks
  end
  for _, file in ipairs(self.files) do
    file:draw(function(hunk)
      at = at + 1
      local verdict = file.verdicts[hunk]
      if verdict ~= nil then
        return verdict and "✓ accepted" or "✗ rejected"
      end
      return ("%d/%d  %s"):format(at, total, help())
    end)
  end
end

--- A window for files: the current one, unless it is a chat or the like.
---@param buf integer
local function go_to(buf)
  local win = vim.fn.bufwinid(buf)
  if win ~= -1 then
    api.nvim_set_current_win(win)
    return
  end
  for _, other in ipairs(vim.bo[buf].buftype == "" and api.nvim_tabpage_list_wins(0) or {}) do
    local is_plain = vim.bo[api.nvim_win_get_buf(other)].buftype == "" and not vim.wo[other].winfixbuf
    if is_plain and api.nvim_win_get_config(other).relative == "" then
      api.nvim_set_current_win(other)
      api.nvim_win_set_buf(other, buf)
      return
    end
  end
  vim.cmd("topleft sbuffer " .. buf)
end

---@return string
function Review:_title()
  return "ollm: " .. self.question.params.title
end

--- All places of several files, in the quickfix window.
function Review:_list()
  local items = {}
  for _, file in ipairs(self.files) do
    for index, hunk in ipairs(file.hunks) do
      local text = hunk.added[1] or hunk.removed[1] or ""
      table.insert(items, { bufnr = file.buf, lnum = file:row(index) + 1, text = visible.line(vim.trim(text)) })
    end
  end
  vim.fn.setqflist({}, " ", { title = self:_title(), items = items })
  local here = api.nvim_get_current_win()
  vim.cmd("botright copen " .. math.min(#items + 1, 8))
  api.nvim_set_current_win(here)
end

---@param focus boolean
function Review:show(focus)
  if not focus then
    return
  end
  local first = self.files[1]
  go_to(first.buf)
  self:_draw()
  first:go(1)
  if #self.files > 1 then
    self:_list()
  end
  if #self.others > 0 then
    require("ollm.report").show(self.question.params.detail, "proposal")
  elseif options.current.diff == "split" then
    self:diff()
  end
end

--- The file of the current buffer.
---@return ollm.File?
function Review:_here()
  local buf = api.nvim_get_current_buf()
  for _, file in ipairs(self.files) do
    if file.buf == buf or file.other == buf then
      return file
    end
  end
end

function Review:diff()
  local file = self:_here() or self.files[1]
  go_to(file.buf)
  table.insert(self.unset, keys.set(file:split(), KEYS))
end

---@param is_yes boolean
function Review:decide(is_yes)
  local file = self:_here()
  local index = file and file:at(api.nvim_win_get_cursor(0)[1] - 1)
  if not file or not index then
    client.notify("there is no change of the proposal here.")
    return
  end
  file.verdicts[file.hunks[index]] = is_yes
  self:_draw()
  if not self:_next(file) then
    self:_conclude()
  end
end

--- Go to a place that is not decided, first in this file.
---@param here ollm.File
---@return boolean
function Review:_next(here)
  for _, file in ipairs({ here, unpack(self.files) }) do
    for index, hunk in ipairs(file.hunks) do
      if file.verdicts[hunk] == nil then
        go_to(file.buf)
        file:go(index)
        return true
      end
    end
  end
  return false
end

--- Everything is decided.
function Review:_conclude()
  local yes, no = 0, 0
  for _, file in ipairs(self.files) do
    for _, hunk in ipairs(file.hunks) do
      yes, no = yes + (file.verdicts[hunk] and 1 or 0), no + (file.verdicts[hunk] and 0 or 1)
    end
  end
  local permission = require("ollm.permission")
  if no == 0 then
    permission.answer(self.question, "allow_once")
  elseif yes == 0 then
    permission.answer(self.question, "reject_once")
  else
    self:_take_part()
  end
end

--- A yes to some places, and to no others.
function Review:_take_part()
  local chosen = {}
  for _, file in ipairs(self.files) do
    if not file:is_as_shown() then
      client.notify(file.name .. " has changed meanwhile, and nothing was done.", vim.log.levels.WARN)
      require("ollm.permission").answer(self.question, "reject_once", file.name .. " has changed meanwhile.")
      return
    end
    table.insert(chosen, file:chosen())
  end
  require("ollm.permission").answer(self.question, "allow_once", nil, chosen)
end

function Review:close()
  for _, unset in ipairs(self.unset) do
    unset()
  end
  self.unset = {}
  for _, file in ipairs(self.files) do
    file:close()
  end
  if #self.files > 1 and vim.fn.getqflist({ title = 0 }).title == self:_title() then
    vim.cmd.cclose()
  end
end

return Review
