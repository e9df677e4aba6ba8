--- A question about changes of files: shown in the files themselves, decided as a whole or place by place.
local File = require("ollm.permission.file")
local Visit = require("ollm.permission.visit")
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
  next_hunk = true,
  previous_hunk = true,
  feedback = true,
  diff = true,
  more = true,
}
--- What is told at every place; there is no room for more.
local TOLD = {
  { "accept", { "accept" } },
  { "reject", { "reject" } },
  { "this place", { "accept_hunk", "reject_hunk" } },
  { "why not", { "feedback" } },
  { "more", { "more" } },
}

---@class ollm.Review: ollm.View
---@field question ollm.Question
---@field visit ollm.Visit
---@field files ollm.File[]
---@field unset fun()[]
---@field others table[] Changes that have no text, such as moves.
---@field list? integer The quickfix window, if it was opened for this.
---@field report? integer
local Review = {}
Review.__index = Review

---@param question ollm.Question
---@return ollm.Review
function Review.new(question)
  local view = setmetatable({ question = question, files = {}, unset = {}, others = {} }, Review)
  view.visit = Visit.new(function(buf)
    return view:_file(buf) ~= nil
  end)
  return view
end

--- Whether a buffer is one of the files that would change.
---@param buf integer
---@return boolean
function Review:is_about(buf)
  local uri = vim.uri_from_bufnr(buf)
  for _, change in ipairs(self.question.params.changes) do
    if change.uri == uri or vim.uri_to_fname(change.uri) == vim.uri_to_fname(uri) then
      return true
    end
  end
  return false
end

function Review:_open()
  for _, change in ipairs(self.question.params.changes) do
    if type(change.newText) == "string" then
      local file = File.new(change)
      table.insert(self.files, file)
      table.insert(self.unset, keys.set(file.buf, KEYS))
    else
      table.insert(self.others, change)
    end
  end
end

---@return string
local function help()
  local words = {}
  for _, one in ipairs(TOLD) do
    local what, names = unpack(one)
    local found = vim.tbl_filter(
      function(key)
        return key ~= ""
      end,
      vim.tbl_map(function(name)
        return options.current.review_keys[name]
      end, names)
    )
    if #found > 0 then
      table.insert(words, ("%s %s"):format(table.concat(found, "/"), what))
    end
  end
  return table.concat(words, "  ")
end

--- All places, in the order in which they are numbered.
---@return { file: ollm.File, index: integer, hunk: ollm.Hunk }[]
function Review:_places()
  local places = {}
  for _, file in ipairs(self.files) do
    for index, hunk in ipairs(file.hunks) do
      table.insert(places, { file = file, index = index, hunk = hunk })
    end
  end
  return places
end

function Review:_draw()
  local total, at = #self:_places(), 0
  for _, file in ipairs(self.files) do
    local stale = file:is_as_shown() and "" or "  the file has changed meanwhile"
    file:draw(function(hunk)
      at = at + 1
      local verdict = file.verdicts[hunk]
      if verdict ~= nil then
        return (verdict and "✓ accepted" or "✗ rejected") .. stale
      end
      return ("%d/%d%s  %s"):format(at, total, stale, help())
    end)
  end
end

---@return string
function Review:_title()
  return "ollm: " .. self.question.params.title
end

--- All places, in the quickfix window.
function Review:_list()
  local items = {}
  for _, place in ipairs(self:_places()) do
    local text = place.hunk.added[1] or place.hunk.removed[1] or ""
    local row = place.file:row(place.index)
    table.insert(items, { bufnr = place.file.buf, lnum = row + 1, text = visible.line(vim.trim(text)) })
  end
  vim.fn.setqflist({}, " ", { title = self:_title(), items = items })
  local here, was_open = api.nvim_get_current_win(), vim.fn.getqflist({ winid = 0 }).winid ~= 0
  vim.cmd("botright copen " .. math.min(#items + 1, 8))
  self.list = not was_open and api.nvim_get_current_win() or nil
  api.nvim_set_current_win(here)
end

---@param focus boolean
function Review:show(focus)
  if #self.files == 0 then
    self:_open()
  end
  if focus then
    self.visit:leave()
    self.visit:go_to(self.files[1].buf)
    self.visit:uncover()
  end
  self:_draw()
  if focus then
    self.files[1]:go(1)
    self:_show_more()
  end
end

--- What does not fit into the first file.
function Review:_show_more()
  if #self:_places() > 1 and not self.list then
    self:_list()
  end
  if #self.others > 0 then
    self.report = require("ollm.report").show(self.question.params.detail, "proposal")
  elseif options.current.diff == "split" then
    self:diff()
  end
end

---@param buf integer
---@return ollm.File?
function Review:_file(buf)
  for _, file in ipairs(self.files) do
    if file.buf == buf or file.other == buf then
      return file
    end
  end
end

--- The file of the current buffer, and the row of the cursor.
---@return ollm.File?
---@return integer row
---@return integer buf
function Review:_here()
  local buf = api.nvim_get_current_buf()
  return self:_file(buf), api.nvim_win_get_cursor(0)[1] - 1, buf
end

function Review:diff()
  local file = self:_here() or self.files[1]
  self.visit:leave()
  self.visit:go_to(file.buf)
  local other = file:split()
  if other then
    table.insert(self.unset, keys.set(other, KEYS))
  end
  self:_draw()
end

--- Go to a place, in the window that the user is in if it has its file.
---@param file ollm.File
---@param index integer
function Review:_go(file, index)
  if self:_here() ~= file then
    self.visit:go_to(file.buf)
  end
  file:go(index)
end

--- Go to the next place or to the one before; after the last comes the first.
---@param step 1|-1
function Review:go(step)
  local here, row, buf = self:_here()
  local places = self:_places()
  local first, last = step == 1 and 1 or #places, step == 1 and #places or 1
  local has_passed = not here
  for at = first, last, step do
    local file, index = places[at].file, places[at].index
    local is_here = file == here
    has_passed = has_passed or is_here
    if has_passed and not (is_here and (file:row(index, buf) - row) * step <= 0) then
      self:_go(file, index)
      return
    end
  end
  self:_go(places[first].file, places[first].index)
end

---@param is_yes boolean
function Review:decide(is_yes)
  local file, row, buf = self:_here()
  local index = file and file:at(row, buf)
  if not file or not index then
    client.notify("there is no change at the cursor.")
    return
  end
  file.verdicts[file.hunks[index]] = is_yes
  self:_draw()
  if not self:_next(file) then
    self:_conclude(false)
  end
end

--- Go to a place that is not decided, first in this file.
---@param here ollm.File
---@return boolean
function Review:_next(here)
  for _, file in ipairs({ here, unpack(self.files) }) do
    for index, hunk in ipairs(file.hunks) do
      if file.verdicts[hunk] == nil then
        self:_go(file, index)
        return true
      end
    end
  end
  return false
end

--- Decide whatever is not decided yet.
---@param is_yes boolean
function Review:decide_rest(is_yes)
  for _, place in ipairs(self:_places()) do
    if place.file.verdicts[place.hunk] == nil then
      place.file.verdicts[place.hunk] = is_yes
    end
  end
  self:_conclude(is_yes)
end

--- Everything is decided.
---@param with_others boolean Whether changes without a text are wanted where only some of the places are.
function Review:_conclude(with_others)
  local yes, no = 0, 0
  for _, place in ipairs(self:_places()) do
    local is_yes = place.file.verdicts[place.hunk]
    yes, no = yes + (is_yes and 1 or 0), no + (is_yes and 0 or 1)
  end
  local permission = require("ollm.permission")
  if no == 0 then
    permission.answer(self.question, "allow_once")
  elseif yes == 0 then
    permission.answer(self.question, "reject_once")
  else
    self:_take_part(with_others)
  end
end

--- A yes to some places, and to no others.
---@param with_others boolean
function Review:_take_part(with_others)
  local chosen = {}
  for _, file in ipairs(self.files) do
    if not file:is_as_shown() then
      client.notify(file.name .. " has changed meanwhile, and nothing was done.", vim.log.levels.WARN)
      require("ollm.permission").answer(self.question, "reject_once", file.name .. " has changed meanwhile.")
      return
    end
    table.insert(chosen, file:chosen())
  end
  for _, change in ipairs(with_others and self.others or {}) do
    table.insert(chosen, { uri = change.uri })
  end
  require("ollm.permission").answer(self.question, "allow_once", nil, chosen)
end

function Review:close()
  local is_here = self:_here() ~= nil
  for _, unset in ipairs(self.unset) do
    unset()
  end
  self.unset = {}
  for _, file in ipairs(self.files) do
    file:close()
  end
  if self.list and api.nvim_win_is_valid(self.list) then
    api.nvim_win_close(self.list, true)
  end
  if self.report and api.nvim_buf_is_valid(self.report) then
    api.nvim_buf_delete(self.report, { force = true })
  end
  self.visit:back(is_here)
end

return Review
