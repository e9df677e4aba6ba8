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
---@field is_about fun(self: ollm.View, buf: integer): boolean Whether it is about the document of a buffer.
---@field hide? fun(self: ollm.View) Take it off the screen for a while.
---@field decide? fun(self: ollm.View, is_yes: boolean) Decide the hunk at the cursor.
---@field decide_rest? fun(self: ollm.View, is_yes: boolean) Decide whatever is not decided yet.
---@field go? fun(self: ollm.View, step: 1|-1) Go to the next hunk, or to the one before.
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

--- Whether the user waits for a question where they are. Who types or works on something else is not interrupted.
---@param question ollm.Question
---@return boolean
local function is_awaited(question)
  local buf = vim.api.nvim_get_current_buf()
  return vim.api.nvim_get_mode().mode == "n"
    and vim.fn.getcmdwintype() == ""
    and (
      vim.bo[buf].filetype == "markdown.ollm"
      or question.view:is_about(buf)
      or client.is_asked_about(question.client_id, buf)
    )
end

local present ---@type fun()

---@param question ollm.Question
---@param answer ollm.Answered?
local function close(question, answer)
  for index, other in ipairs(open) do
    if other == question then
      table.remove(open, index)
      vim.schedule(function()
        if answer then
          question.resume(answer)
        end
        if index == 1 then
          present()
        end
      end)
      require("ollm.status").announce()
      if question.view then
        question.view:close()
      end
      return
    end
  end
end

--- Show a question. One that cannot be shown is rejected: nobody could answer it.
---@param question ollm.Question
---@param focus boolean
local function show(question, focus)
  local ok, why = pcall(question.view.show, question.view, focus)
  if not ok then
    client.notify(("%s: rejected, for it cannot be shown: %s"):format(question.params.title, why), vim.log.levels.ERROR)
    close(question, { optionId = "reject_once", feedback = "The editor could not show it to the user." })
  end
end

--- Show the first question.
function present()
  local question = open[1]
  if not question then
    return
  end
  question.view = view_of(question)
  local focus = is_awaited(question)
  show(question, focus)
  if open[1] ~= question then
    return
  end
  if not focus then
    client.notify(question.params.title .. "? :Ollm review shows it.", vim.log.levels.WARN)
  end
  local data = { title = question.params.title, kind = question.params.kind }
  vim.api.nvim_exec_autocmds("User", { pattern = "OllmAsked", modeline = false, data = data })
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
  require("ollm.status").announce()
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

--- The server that asked does not wait for the answer any more. Its request has the id of the question.
---@param client_id integer
---@param id string|integer
function M.withdraw(client_id, id)
  for _, question in ipairs(open) do
    if question.client_id == client_id and question.params.id == id then
      client.notify("the question was withdrawn: " .. question.params.title)
      close(question, { optionId = "reject_once" })
      return
    end
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
    show(question, true)
  end)
end

--- Take the question off the screen for a while.
function M.hide()
  with(function(question)
    if question.view.hide then
      question.view:hide()
    end
  end)
end

--- Accept all of it that is not decided yet.
function M.accept()
  with(function(question)
    if question.view.decide_rest then
      question.view:decide_rest(true)
    else
      M.answer(question, "allow_once")
    end
  end)
end

--- Reject all of it that is not decided yet; with words for the model, all of it.
---@param feedback? string
function M.reject(feedback)
  with(function(question)
    if question.view.decide_rest and (feedback or "") == "" then
      question.view:decide_rest(false)
    else
      M.answer(question, "reject_once", feedback ~= "" and feedback or nil)
    end
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

--- Go to the next place of a proposal, or to the one before.
---@param step 1|-1
function M.go(step)
  with(function(question)
    if question.view.go then
      question.view:go(step)
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
      M.hide()
      require("ollm.permission.briefing").edit(question)
    end
  end)
end

--- Whether a question waits for the user.
---@param question? ollm.Question By default, any.
---@return boolean
function M.is_asking(question)
  return open[1] ~= nil and (not question or open[1] == question)
end

--- Whether the user was told of the question that is open.
---@return boolean
function M.is_shown()
  return open[1] ~= nil and open[1].view ~= nil
end

return M
