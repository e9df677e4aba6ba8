--- A chat: a conversation in a buffer, where questions are written and answers grow.
local Stream = require("ollm.chat.stream")
local Transcript = require("ollm.chat.transcript")
local client = require("ollm.client")
local options = require("ollm.options")
local places = require("ollm.place")
local reducer = require("ollm.reducer")
local render = require("ollm.render")
local window = require("ollm.chat.window")

local api = vim.api

---@class ollm.Chat
---@field buf integer
---@field transcript ollm.Transcript
---@field conversation? string
---@field model? string Chosen for this chat.
---@field place? ollm.Place What the next question is about, if the user has said so.
---@field running? ollm.Running
---@field is_busy boolean
local Chat = {}
Chat.__index = Chat

---@type table<integer, ollm.Chat>
local chats = {}
---@type ollm.Chat?
local current
local number = 0

--- The chat of a buffer.
---@param buf integer
---@return ollm.Chat?
function Chat.of(buf)
  return chats[buf]
end

--- The chat that was used last.
---@return ollm.Chat?
function Chat.current()
  return chats[api.nvim_get_current_buf()] or current
end

---@return integer buf
local function new_buffer()
  number = number + 1
  local buf = api.nvim_create_buf(false, true)
  -- By this name the server knows that it is a chat, and completes slash commands and mentions.
  api.nvim_buf_set_name(buf, ("ollm-chat:///chat-%d.ollm.md"):format(number))
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].swapfile = false
  vim.bo[buf].filetype = "markdown.ollm"
  -- Neovim's own settings for Markdown complete HTML.
  vim.bo[buf].omnifunc = "v:lua.vim.lsp.omnifunc"
  return buf
end

--- A new chat, not shown yet.
---@return ollm.Chat
function Chat.new()
  local buf = new_buffer()
  local chat = setmetatable({ buf = buf, transcript = Transcript.new(buf), is_busy = false }, Chat)
  chats[buf], current = chat, chat
  require("ollm.chat.keys").set(chat)
  api.nvim_create_autocmd("BufEnter", {
    buffer = buf,
    callback = function()
      current = chat
    end,
  })
  api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    callback = function()
      chat:stop()
      chats[buf] = nil
      current = current ~= chat and current or nil
    end,
  })
  client.with(chat:_document() or buf, function(lsp)
    if api.nvim_buf_is_loaded(buf) then
      vim.lsp.buf_attach_client(buf, lsp.id)
    end
  end)
  return chat
end

--- A new chat with room for a question.
---@return ollm.Chat
function Chat.fresh()
  local chat = Chat.new()
  chat:_room("")
  return chat
end

function Chat:show()
  window.show(self.buf)
end

function Chat:hide()
  window.hide(self.buf)
end

---@return boolean
function Chat:is_shown()
  return window.find(self.buf) ~= nil
end

---@return integer? buf
function Chat:_document()
  return self.place and self.place.buf or places.document()
end

--- What the next question is sent with, as people read it.
---@return string
function Chat:_told()
  local document = self:_document()
  local words = { self.model }
  if document then
    table.insert(words, places.words(self.place or { buf = document }))
  end
  return table.concat(words, " · ")
end

--- Room for the next question.
---@param text string
function Chat:_room(text)
  self.transcript:ask(text, self:_told())
end

--- The room for the next question, which is the last message.
---@return ollm.Message?
function Chat:_draft()
  local messages = self.transcript:messages()
  local last = messages[#messages]
  return last and last.head.speaker == "you" and last or nil
end

--- Ask about a place from now on.
---@param place ollm.Place
function Chat:about(place)
  self.place = place
  self:_tell_room()
end

--- Let another model answer from now on.
---@param model string
function Chat:use(model)
  self.model = model
  self:_tell_room()
end

function Chat:_tell_room()
  local draft = self:_draft()
  if draft then
    self.transcript:tell(draft.mark, self:_told())
  end
end

--- Write into the room for the next question.
---@param text string
function Chat:write(text)
  local draft = self:_draft()
  if draft then
    api.nvim_buf_set_lines(self.buf, draft.row + 2, draft.last, false, vim.split(text, "\n", { plain = true }))
  end
end

--- Send what was written.
function Chat:send()
  local draft = self:_draft()
  if self.is_busy then
    client.notify(("an answer is still on its way; %s stops it."):format(options.current.chat_keys.stop))
  elseif draft and draft.text ~= "" then
    self:_send(draft)
  end
end

--- Stop the answer that is on its way.
function Chat:stop()
  if self.running then
    self.running.stop()
  end
end

--- Ask again what is asked at the cursor, as it is written now. What stood below goes, and undo brings it back.
function Chat:retry()
  if self.is_busy then
    self:send()
    return
  end
  local messages = self.transcript:messages()
  local row = api.nvim_get_current_buf() == self.buf and api.nvim_win_get_cursor(0)[1] - 1 or math.huge
  local question, index ---@type ollm.Message?, integer?
  for i, message in ipairs(messages) do
    if message.head.speaker == "you" and messages[i + 1] and (not question or message.row <= row) then
      question, index = message, i
    end
  end
  if not question or not index then
    return
  end
  local draft = self:_draft()
  local kept = draft and draft ~= question and draft.text or ""
  self.transcript:cut(messages[index + 1].row)
  if question.head.rerun and question.text == question.head.asked then
    question.head.rerun()
  else
    self:_send(question, kept)
  end
end

--- The last response before a message that the server knows.
---@param mark integer
---@return string?
function Chat:_parent(mark)
  local parent
  for _, message in ipairs(self.transcript:messages()) do
    if message.mark == mark then
      break
    end
    parent = message.head.response or parent
  end
  return parent
end

---@param question ollm.Message
---@param draft? string What was written below it.
function Chat:_send(question, draft)
  question.head.asked = question.text
  local parent = self:_parent(question.mark)
  local document = self:_document()
  local params = { text = question.text, model = self.model, conversationId = self.conversation }
  if self.conversation then
    params.parentId = parent or ""
  end
  self:answer(draft, function(lsp, request)
    if document then
      params.context = places.params(self.place or { buf = document }, lsp.offset_encoding)
      self.place = nil
    end
    return client.request(lsp, "ollm/chat/send", params, request)
  end)
end

--- Let an answer grow at the end.
---@param draft string? What the next question begins with.
---@param start fun(lsp: vim.lsp.Client, request: ollm.Request): ollm.Running
---@param done? fun(result: table?)
function Chat:answer(draft, start, done)
  local answer, state = self.transcript:answer(), reducer.new()
  local began = vim.uv.hrtime()
  self.is_busy = true
  self.transcript:tell(answer.mark, "…")
  local stream = Stream.new(function(events)
    for _, event in ipairs(reducer.joined(events)) do
      state = reducer.reduce(state, event)
    end
    self.transcript:draw(answer, state)
  end)
  local function finished(err, result)
    if not api.nvim_buf_is_loaded(self.buf) then
      return
    end
    stream:close()
    state = self:_ended(state, answer, err, result)
    state.seconds = (vim.uv.hrtime() - began) / 1e9
    self.transcript:draw(answer, state)
    self.transcript:tell(answer.mark, render.summary(state))
    self.is_busy, self.running = false, nil
    self:_room(draft or "")
    if done then
      done(result)
    end
  end
  client.with(self:_document() or self.buf, function(lsp)
    self.running = start(lsp, {
      events = function(event)
        stream:push(event)
      end,
      progress = function(value)
        if self.is_busy and value.kind ~= "end" then
          self.transcript:tell(answer.mark, render.progress(value))
        end
      end,
      done = finished,
    })
  end, function()
    finished({ code = -32803, message = "The server cannot be started." })
  end)
end

---@param state ollm.Response
---@param answer ollm.Answer
---@param err lsp.ResponseError?
---@param result table?
---@return ollm.Response
function Chat:_ended(state, answer, err, result)
  if result and result.responseId then
    self.transcript.heads[answer.mark].response = result.responseId
    self.conversation = result.conversationId
    local usage = vim.tbl_extend("force", { cost = result.cost }, result.usage or {})
    state = vim.tbl_extend("force", state, { model = result.model, usage = usage, reason = result.finishReason })
    return state --[[@as ollm.Response]]
  end
  local last = state.parts[#state.parts]
  if err and not (last and last.type == "note" and last.level == "error") then
    local remedy = type(err.data) == "table" and err.data.remedy or nil
    state = reducer.reduce(state, { type = "error", message = err.message, remedy = remedy })
  end
  return vim.tbl_extend("force", state, { reason = state.reason or "error" }) --[[@as ollm.Response]]
end

--- A question that is asked by a command, and its answer.
---@param text string What is shown of it.
---@param start fun(lsp: vim.lsp.Client, request: ollm.Request): ollm.Running
---@param done? fun(result: table?)
function Chat:run(text, start, done)
  local draft = self:_draft()
  local function go()
    self:answer(draft and draft.text or "", start, done)
  end
  if draft then
    self.transcript:cut(draft.row)
  end
  self.transcript:ask(text, "", { speaker = "you", asked = text, rerun = go })
  go()
end

--- A conversation that was kept.
---@param kept table As `ollm/chat/get` tells it.
---@return ollm.Chat
function Chat.kept(kept)
  local chat = Chat.new()
  chat.conversation = kept.id
  for _, response in ipairs(reducer.branch(kept)) do
    local state = reducer.kept(response, kept.id)
    if response.isRecap then
      state.parts = { { type = "reasoning", text = response.text } }
    else
      chat.transcript:ask(response.text, "", { speaker = "you", asked = response.text })
    end
    local answer = chat.transcript:answer()
    chat.transcript.heads[answer.mark].response = response.id
    chat.transcript:draw(answer, state)
    chat.transcript:tell(answer.mark, render.summary(state))
  end
  chat:_room("")
  return chat
end

return Chat
