--- A question about something that is no text of a file: a release, a command, a file that goes.
local Visit = require("ollm.permission.visit")
local keys = require("ollm.permission.keys")
local render = require("ollm.render")

local api = vim.api

---@class ollm.Consent: ollm.View
---@field question ollm.Question
---@field visit ollm.Visit
---@field buf? integer
---@field win? integer
local Consent = {}
Consent.__index = Consent

---@param params table
---@return string
local function title(params)
  local estimate = params.estimate
  if not estimate then
    return params.title
  end
  local cost = estimate.cost.amount == 0 and estimate.cost.known and "no extra cost" or render.money(estimate.cost)
  return ("%s · at most %d tokens, %s"):format(params.title, estimate.tokens, cost)
end

---@param question ollm.Question
---@return ollm.Consent
function Consent.new(question)
  local view = setmetatable({ question = question }, Consent)
  view.visit = Visit.new(function(buf)
    return buf == view.buf
  end)
  return view
end

--- A question of this kind is about no file.
---@return boolean
function Consent:is_about()
  return false
end

---@return table<ollm.KeyName, true>
function Consent:_keys()
  local names = { accept = true, reject = true, feedback = true, more = true, close = true }
  if type(self.question.params.briefing) == "string" then
    names.briefing = true
  end
  return names
end

--- What the user decides by.
---@return string[]
function Consent:_lines()
  local text = self.question.params.detail
  if self.question.briefing then
    text = ("You have changed the briefing. This is sent instead:\n\n%s"):format(self.question.briefing)
  end
  local lines = vim.split(text, "\n", { plain = true })
  return vim.list_extend({ title(self.question.params), "" }, lines)
end

---@return integer buf
function Consent:_buffer()
  if not self.buf or not api.nvim_buf_is_valid(self.buf) then
    self.buf = api.nvim_create_buf(false, true)
    vim.bo[self.buf].filetype = "markdown"
    keys.set(self.buf, self:_keys())
  end
  return self.buf
end

---@param focus boolean
function Consent:show(focus)
  if not focus then
    return
  end
  self.visit:leave()
  local buf, lines = self:_buffer(), self:_lines()
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  if self.win and api.nvim_win_is_valid(self.win) then
    api.nvim_set_current_win(self.win)
    return
  end
  local width = math.min(vim.o.columns - 4, 100)
  local height = math.min(#lines + 2, vim.o.lines - 6)
  self.win = api.nvim_open_win(buf, true, {
    relative = "editor",
    width = width,
    height = height,
    col = math.floor((vim.o.columns - width) / 2),
    row = math.floor((vim.o.lines - height) / 2) - 1,
    -- Above a chat that floats.
    zindex = 60,
    border = "rounded",
    title = " ollm asks ",
    footer = (" %s "):format(keys.words(self:_keys())),
    footer_pos = "right",
  })
  vim.wo[self.win][0].wrap = true
  vim.wo[self.win][0].linebreak = true
end

function Consent:hide()
  local is_here = api.nvim_get_current_win() == self.win
  if self.win and api.nvim_win_is_valid(self.win) then
    api.nvim_win_close(self.win, true)
  end
  self.win = nil
  self.visit:back(is_here)
end

function Consent:close()
  self:hide()
  if self.buf and api.nvim_buf_is_valid(self.buf) then
    api.nvim_buf_delete(self.buf, { force = true })
  end
  self.buf = nil
end

return Consent
