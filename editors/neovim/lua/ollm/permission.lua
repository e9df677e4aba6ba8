--- The server's questions: asked one after the other, each answered once. Nothing is allowed but by the user's own key.
local client = require("ollm.client")

local M = {}

---@class ollm.Answered
---@field optionId string
---@field feedback? string
---@field briefing? string
---@field changes? { uri: string, newText: string }[]

---@class ollm.View How a question is shown.
---@field show fun(self: ollm.View, focus: boolean)
---@field close fun(self: ollm.View)
---@field decide? fun(self: ollm.View, is_yes: boolean) Decide the hunk at the cursor.
---@field diff? fun(self: ollm.View) Show it in two windows.

---@class ollm.Question
---@field params table
---@field client_id integer
---@field resume fun(answer: ollm.Answered)
---@field view ollm.View From when it is shown.
---@field briefing? string What the user made of it.

---@type ollm.Question[]
local open = {}

---@param question ollm.Question
---@return ollm.View
local function view_of(question)
  for _, change in ipairs(question.params.changes or {}) do
    if type(change.newText) == "string" then
      return require("ollm.permission.review").new(question)
    end
  end
  return require("ollm.permission.consent").new(question)
end

--- Show the first question. Whoever is typing is not interrupted.
local function present()
  local question = open[1]
  if not question then
    return
  end
  question.view = question.view or view_of(question)
  local is_free = vim.api.nvim_get_mode().mode == "n"
  question.view:show(is_free)
  if not is_free then
    client.notify(question.params.title .. "? :Ollm review shows it.", vim.log.levels.WARN)
  end
end

---@param question ollm.Question
---@param answer ollm.Answered?
local function close(question, answer)
  for index, other in ipairs(open) do
    if other == question then
      table.remove(open, index)
      if question.view then
        question.view:close()
      end
      vim.schedule(function()
        if answer then
          question.resume(answer)
        end
        present()
      end)
      return
    end
  end
end

--- Ask the user. It runs in the coroutine of the server's request, which waits for the answer.
---@param params table
---@param client_id integer
---@return ollm.Answered
function M.ask(params, client_id)
  local waiting = assert(coroutine.running())
  local function resume(answer)
    coroutine.resume(waiting, answer)
  end
  local question = { params = params, client_id = client_id, resume = resume }
  table.insert(open, question --[[@as ollm.Question]])
  if #open == 1 then
    vim.schedule(present)
  end
  return coroutine.yield()
end

--- Answer a question.
---@param question ollm.Question
---@param option string
---@param feedback? string
---@param changes? { uri: string, newText: string }[] Those that the user wants, where it is not all.
function M.answer(question, option, feedback, changes)
  close(question, { optionId = option, feedback = feedback, briefing = question.briefing, changes = changes })
end

--- Nobody waits for the question any more. Neovim does not tell which one the server means: it is the oldest.
function M.withdraw()
  if open[1] then
    client.notify("the question was withdrawn: " .. open[1].params.title)
    close(open[1], { optionId = "reject_once" })
  end
end

--- The server that asked is gone.
---@param client_id integer
function M.forget(client_id)
  for _, question in ipairs({ unpack(open) }) do
    if question.client_id == client_id then
      close(question)
    end
  end
end

--- Do something with the question that is open.
---@param fn fun(question: ollm.Question)
local function with(fn)
  if open[1] and open[1].view then
    fn(open[1])
  else
    client.notify("there is no question.")
  end
end

function M.show()
  with(function(question)
    question.view:show(true)
  end)
end

function M.accept()
  with(function(question)
    M.answer(question, "allow_once")
  end)
end

---@param feedback? string
function M.reject(feedback)
  with(function(question)
    M.answer(question, "reject_once", feedback ~= "" and feedback or nil)
  end)
end

--- Reject, and tell the model why.
function M.feedback()
  with(function(question)
    vim.ui.input({ prompt = "Why not? " }, function(words)
      if words then
        M.answer(question, "reject_once", words ~= "" and words or nil)
      end
    end)
  end)
end

--- All answers that there are.
function M.more()
  with(function(question)
    local words = { prompt = question.params.title, kind = "ollm" }
    words.format_item = function(option)
      return option.label
    end
    vim.ui.select(question.params.options, words, function(option)
      if option then
        M.answer(question, option.id)
      end
    end)
  end)
end

---@param is_yes boolean
function M.decide(is_yes)
  with(function(question)
    if question.view.decide then
      question.view:decide(is_yes)
    end
  end)
end

function M.diff()
  with(function(question)
    if question.view.diff then
      question.view:diff()
    end
  end)
end

--- Change what a release sends.
function M.edit_briefing()
  with(function(question)
    if type(question.params.briefing) == "string" then
      question.view:close()
      require("ollm.permission.briefing").edit(question)
    end
  end)
end

--- Whether a question is open.
---@return boolean
function M.is_asking()
  return open[1] ~= nil
end

return M
