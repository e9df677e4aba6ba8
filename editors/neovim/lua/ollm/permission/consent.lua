--- A question about something that is no text of a file: a release, a command, a file that goes.
local keys = require("ollm.permission.keys")
local options = require("ollm.options")
local render = require("ollm.render")

local api = vim.api

---@class ollm.Consent: ollm.View
---@field question ollm.Question
---@field buf integer
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
  local buf = api.nvim_create_buf(false, true)
  local view = setmetatable({ question = question, buf = buf }, Consent)
  vim.bo[buf].filetype = "markdown"
  vim.bo[buf].bufhidden = "hide"
  keys.set(buf, view:_keys())
  vim.keymap.set("n", options.current.review_keys.close, function()
    view:_hide()
  end, { buffer = buf, desc = "ollm: decide later", nowait = true })
  return view
end

---@return table<ollm.KeyName, true>
function Consent:_keys()
  local names = { accept = true, reject = true, feedback = true, more = true }
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

---@param focus boolean
function Consent:show(focus)
  vim.bo[self.buf].modifiable = true
  local lines = self:_lines()
  api.nvim_buf_set_lines(self.buf, 0, -1, false, lines)
  vim.bo[self.buf].modifiable = false
  if not focus then
    return
  end
  if self.win and api.nvim_win_is_valid(self.win) then
    api.nvim_set_current_win(self.win)
    return
  end
  local width = math.min(vim.o.columns - 4, 100)
  local height = math.min(#lines + 2, vim.o.lines - 6)
  self.win = api.nvim_open_win(self.buf, true, {
    relative = "editor",
    width = width,
    height = height,
    col = math.floor((vim.o.columns - width) / 2),
    row = math.floor((vim.o.lines - height) / 2) - 1,
    border = "rounded",
    title = " ollm asks ",
    footer = (" %s  %s later "):format(keys.words(self:_keys()), options.current.review_keys.close),
    footer_pos = "right",
  })
  vim.wo[self.win][0].wrap = true
  vim.wo[self.win][0].linebreak = true
end

function Consent:_hide()
  if self.win and api.nvim_win_is_valid(self.win) then
    api.nvim_win_close(self.win, true)
  end
  self.win = nil
end

function Consent:close()
  self:_hide()
end

return Consent
