--- An answer on its way into a chat: asked for, followed while it grows, and ended.
local Stream = require("ollm.chat.stream")
local client = require("ollm.client")
local reducer = require("ollm.reducer")
local render = require("ollm.render")

local api = vim.api

local M = {}

--- How a response is when nothing more comes.
---@param chat ollm.Chat
---@param state ollm.Response
---@param answer ollm.Answer
---@param err lsp.ResponseError?
---@param result table?
---@return ollm.Response
local function ended(chat, state, answer, err, result)
  if result and result.responseId then
    chat.transcript.heads[answer.mark].response = result.responseId
    chat.conversation = result.conversationId
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

--- Let an answer grow at the end of a chat.
---@param chat ollm.Chat
---@param about integer The buffer that it is about.
---@param start fun(lsp: vim.lsp.Client, request: ollm.Request): ollm.Running
function M.begin(chat, about, start)
  local answer, state = chat.transcript:answer(), reducer.new()
  local began = vim.uv.hrtime()
  chat.is_busy = true
  chat.transcript:tell(answer.mark, "…")
  local stream = Stream.new(function(events)
    for _, event in ipairs(reducer.joined(events)) do
      state = reducer.reduce(state, event)
    end
    chat.conversation = state.conversation or chat.conversation
    chat.transcript:draw(answer, state)
    if answer.is_undone then
      chat:stop()
    end
  end)
  local function finished(err, result)
    chat.is_busy, chat.running = false, nil
    stream:close()
    if not api.nvim_buf_is_loaded(chat.buf) then
      return
    end
    state = ended(chat, state, answer, err, result)
    state.seconds = (vim.uv.hrtime() - began) / 1e9
    chat.transcript:draw(answer, state)
    chat.transcript:tell(answer.mark, render.summary(state))
    if not answer.is_undone then
      chat:room(chat.draft)
    end
    local data = { buf = chat.buf, conversation = chat.conversation, reason = state.reason }
    api.nvim_exec_autocmds("User", { pattern = "OllmFinished", modeline = false, data = data })
  end
  client.with(about, function(lsp)
    if not api.nvim_buf_is_loaded(chat.buf) then
      finished()
      return
    end
    chat.running = start(lsp, {
      events = function(event)
        stream:push(event)
      end,
      progress = function(value)
        if chat.is_busy and value.kind ~= "end" then
          chat.transcript:tell(answer.mark, render.progress(value))
        end
      end,
      done = finished,
    })
  end, function()
    finished({ code = -32803, message = "The server cannot be started." })
  end)
end

return M
