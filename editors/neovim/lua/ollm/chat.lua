--- A chat: a conversation in a buffer, where questions are written and answers grow.
local Transcript = require("ollm.chat.transcript")
local answering = require("ollm.chat.answering")
local client = require("ollm.client")
local options = require("ollm.options")
local places = require("ollm.place")
local reducer = require("ollm.reducer")
local render = require("ollm.render")
local window = require("ollm.chat.window")

local api = vim.api

---@class ollm.Asked
---@field text string As it is written now.
---@field conversationId? string
---@field parentId? string

--- How a question is sent.
---@alias ollm.Start fun(lsp: vim.lsp.Client, request: ollm.Request, asked: ollm.Asked): ollm.Running

---@class ollm.Chat
---@field buf integer
---@field transcript ollm.Transcript
---@field conversation? string
---@field model? string Chosen for this chat.
---@field place? ollm.Place What the next question is about, if the user has said so.
---@field draft string What the next question begins with, while an answer is on its way.
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

--- The chat in which a conversation is open.
---@param conversation string
---@return ollm.Chat?
function Chat.with(conversation)
  for _, chat in pairs(chats) do
    if chat.conversation == conversation then
      return chat
    end
  end
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

---@param text string
---@param more string
---@return string
local function joined(text, more)
  return text == "" and more or text .. "\n\n" .. more
end

--- A new chat, not shown yet.
---@return ollm.Chat
local function new()
  local buf = new_buffer()
  local chat = setmetatable({ buf = buf, transcript = Transcript.new(buf), draft = "", is_busy = false }, Chat)
  chats[buf], current = chat, chat
  require("ollm.chat.keys").set(chat)
  api.nvim_create_autocmd("BufEnter", {
    buffer = buf,
    callback = function()
      current = chat
      chat:_tell_room()
    end,
  })
  api.nvim_create_autocmd("TextChanged", {
    buffer = buf,
    callback = function()
      if chat.transcript.step:is_disturbed() then
        chat.transcript:revive()
      end
    end,
  })
  api.nvim_create_autocmd("BufUnload", {
    buffer = buf,
    callback = function()
      chat:_forget()
    end,
  })
  client.with(places.document() or buf, function(lsp)
    if api.nvim_buf_is_loaded(buf) then
      vim.lsp.buf_attach_client(buf, lsp.id)
    end
  end)
  return chat
end

--- A new chat with room for a question.
---@return ollm.Chat
function Chat.fresh()
  local chat = new()
  chat.transcript.step:fixed(function()
    chat:room("")
  end)
  return chat
end

--- The user has closed the buffer for good. What is left of it would have neither keys nor headings.
function Chat:_forget()
  self:stop()
  chats[self.buf] = nil
  current = current ~= self and current or nil
  vim.schedule(function()
    if api.nvim_buf_is_valid(self.buf) then
      api.nvim_buf_delete(self.buf, { force = true })
    end
  end)
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

--- What a question is about: what it was about before, else what the user has said, else where they come from.
---@param head? ollm.Head
---@return ollm.Place?
function Chat:_place(head)
  local place = head and head.place or self.place
  if place and api.nvim_buf_is_loaded(place.buf) then
    return place
  end
  local document = places.document()
  return document and { buf = document } or nil
end

--- What a question is sent with, as people read it.
---@param head? ollm.Head
---@return string
function Chat:_told(head)
  local place = self:_place(head)
  local words = { self.model }
  if place then
    table.insert(words, places.words(place))
  end
  return table.concat(words, " · ")
end

--- Room for the next question.
---@param text string
function Chat:room(text)
  self.transcript:ask(text, self:_told())
end

--- The room for the next question, which is the last message.
---@return ollm.Message?
function Chat:_draft()
  local messages = self.transcript:messages()
  local last = messages[#messages]
  return last and last.head.speaker == "you" and last or nil
end

--- The room for the next question, also if the user has removed its heading. Without any heading, all is the question.
---@return ollm.Message
function Chat:_written()
  local draft = self:_draft()
  if not draft then
    local text = ""
    if #self.transcript:messages() == 0 then
      text = vim.trim(table.concat(api.nvim_buf_get_lines(self.buf, 0, -1, false), "\n"))
      self.transcript:cut(0)
    end
    self:room(text)
    draft = assert(self:_draft())
  end
  return draft
end

--- Ask about a place from now on.
---@param place ollm.Place
function Chat:about(place)
  self.place = place
  local draft = self:_draft()
  if draft then
    draft.head.place = nil
  end
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
    self.transcript:tell(draft.mark, self:_told(draft.head))
  end
end

--- Add to what is written for the next question.
---@param text string
function Chat:write(text)
  if self.is_busy then
    self.draft = joined(self.draft, text)
    return
  end
  self.transcript.step:close()
  local draft = self:_written()
  self.transcript:cut(draft.row)
  self.transcript:ask(joined(draft.text, text), self:_told(draft.head), draft.head)
end

--- Send what was written.
function Chat:send()
  if self.is_busy then
    client.notify(("an answer is still on its way; %s stops it."):format(options.current.chat_keys.stop))
    return
  end
  self.transcript.step:close()
  local has_room = self:_draft() ~= nil
  local draft = self:_written()
  if draft.text ~= "" then
    self:_send(draft)
  elseif not has_room then
    client.notify("there was no room for a question. Write it below the last heading.", vim.log.levels.WARN)
  end
end

--- Ask this. What is written and not sent yet stays for the next question.
---@param text string
---@param head? ollm.Head
function Chat:ask(text, head)
  if self.is_busy then
    self:write(text)
    self:send()
    return
  end
  self.transcript.step:close()
  local draft = self:_written()
  self.transcript:cut(draft.row)
  self.transcript:ask(text, "", head)
  self:_send(assert(self:_draft()), draft.text)
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
  self.transcript.step:close()
  self.transcript:cut(messages[index + 1].row)
  self:_send(question, draft and draft.text)
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

--- As a message about a place.
---@param question ollm.Message
---@return ollm.Start
function Chat:_message(question)
  local head = question.head
  local place = self:_place(head)
  if not head.place then
    head.place, self.place = place, nil
  end
  self.transcript:tell(question.mark, self:_told(head))
  return function(lsp, request, asked)
    local context = place and places.params(place, lsp.offset_encoding) or nil
    local params = vim.tbl_extend("force", asked, { model = self.model, context = context })
    return client.request(lsp, "ollm/chat/send", params, request)
  end
end

---@param question ollm.Message
---@param draft? string What was written below it.
function Chat:_send(question, draft)
  local asked = { text = question.text, conversationId = self.conversation }
  if self.conversation then
    asked.parentId = self:_parent(question.mark) or ""
  end
  local start = question.head.start or self:_message(question)
  self.draft = draft or ""
  local place = self:_place(question.head)
  answering.begin(self, place and place.buf or self.buf, function(lsp, request)
    return start(lsp, request, asked)
  end)
end

---@param kept table
function Chat:_fill(kept)
  for _, response in ipairs(reducer.branch(kept)) do
    local state = reducer.kept(response, kept.id)
    if response.isRecap then
      state.parts = { { type = "reasoning", text = response.text } }
    else
      self.transcript:ask(response.text, "")
    end
    local answer = self.transcript:answer()
    self.transcript.heads[answer.mark].response = response.id
    self.transcript:draw(answer, state)
    self.transcript:tell(answer.mark, render.summary(state))
  end
end

--- A conversation that was kept.
---@param kept table As `ollm/chat/get` tells it.
---@return ollm.Chat
function Chat.kept(kept)
  local chat = new()
  chat.conversation = kept.id
  chat.transcript.step:fixed(function()
    chat:_fill(kept)
    chat:room("")
  end)
  return chat
end

return Chat
