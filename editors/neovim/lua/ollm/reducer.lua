--- From events to the state of a response. Pure: the state that is given stays as it was.
local M = {}

---@class ollm.TextPart
---@field type "text"|"reasoning"
---@field text string

---@class ollm.ToolPart
---@field type "tool"
---@field id string
---@field name string
---@field title string
---@field kind? string
---@field arguments? table
---@field status string
---@field result? string

---@class ollm.NotePart
---@field type "note"
---@field level "warning"|"error"|"info"
---@field message string
---@field remedy? string

---@alias ollm.Part ollm.TextPart|ollm.ToolPart|ollm.NotePart

---@class ollm.Response
---@field parts ollm.Part[]
---@field conversation? string
---@field id? string
---@field provider? string
---@field model? string
---@field turn? integer
---@field usage? table
---@field reason? string Why it has finished; nothing while it runs.
---@field seconds? number

---@return ollm.Response
function M.new()
  return { parts = {} }
end

---@param state ollm.Response
---@param fields table
---@return ollm.Response
local function with(state, fields)
  return vim.tbl_extend("force", state, fields) --[[@as ollm.Response]]
end

---@param state ollm.Response
---@param index integer
---@param part ollm.Part
---@return ollm.Response
local function with_part(state, index, part)
  local parts = vim.list_slice(state.parts)
  parts[index] = part
  return with(state, { parts = parts })
end

---@param state ollm.Response
---@param part ollm.Part
---@return ollm.Response
local function added(state, part)
  return with_part(state, #state.parts + 1, part)
end

---@param state ollm.Response
---@param event table
---@return ollm.Response
local function grown(state, event)
  local last = state.parts[#state.parts]
  if last and last.type == event.type then
    return with_part(state, #state.parts, { type = event.type, text = last.text .. event.text })
  end
  return added(state, { type = event.type, text = event.text })
end

---@param state ollm.Response
---@param call table
---@return ollm.Response
local function called(state, call)
  local part = {
    type = "tool",
    id = call.id,
    name = call.name,
    title = call.title,
    kind = call.kind,
    arguments = call.arguments,
    status = call.status,
    result = call.result,
  }
  for index, other in ipairs(state.parts) do
    if other.type == "tool" and other.id == call.id then
      return with_part(state, index, part)
    end
  end
  return added(state, part)
end

---@type table<string, fun(state: ollm.Response, event: table): ollm.Response>
local by_type = {
  started = function(state, event)
    return with(state, {
      conversation = event.conversationId,
      id = event.responseId,
      provider = event.provider,
      model = event.model,
    })
  end,
  turn = function(state, event)
    return with(state, { turn = event.number })
  end,
  text = grown,
  reasoning = grown,
  toolCall = called,
  usage = function(state, event)
    return with(state, { usage = event })
  end,
  warning = function(state, event)
    return added(state, { type = "note", level = "warning", message = event.message, remedy = event.remedy })
  end,
  escalation = function(state, event)
    local asked = ("%s (%s) could be asked."):format(event.provider, event.model)
    return added(state, { type = "note", level = "info", message = event.reason, remedy = asked })
  end,
  error = function(state, event)
    return added(state, { type = "note", level = "error", message = event.message, remedy = event.remedy })
  end,
  finished = function(state, event)
    return with(state, { reason = event.reason })
  end,
}

--- What an event makes of a response. Events that a newer server may have change nothing.
---@param state ollm.Response
---@param event table
---@return ollm.Response
function M.reduce(state, event)
  local step = by_type[event.type]
  return step and step(state, event) or state
end

--- The same events with deltas that follow each other joined, so that there are fewer.
---@param events table[]
---@return table[]
function M.joined(events)
  local all, pieces = {}, {} ---@type table[], string[]
  local function close()
    if #pieces > 0 then
      all[#all] = { type = all[#all].type, text = table.concat(pieces) }
      pieces = {}
    end
  end
  for _, event in ipairs(events) do
    local is_delta = event.type == "text" or event.type == "reasoning"
    if not (is_delta and #pieces > 0 and all[#all].type == event.type) then
      close()
      table.insert(all, event)
    end
    if is_delta then
      table.insert(pieces, event.text)
    end
  end
  close()
  return all
end

---@type table<string, fun(state: ollm.Response, item: table): ollm.Response>
local by_item = {
  text = grown,
  reasoning = grown,
  toolCall = function(state, item)
    local title = item.name
    return called(
      state,
      { id = item.id, name = item.name, title = title, arguments = item.arguments, status = "completed" }
    )
  end,
  toolResult = function(state, item)
    local status = item.isError and "failed" or "completed"
    for _, part in ipairs(state.parts) do
      if part.type == "tool" and part.id == item.id then
        return called(state, vim.tbl_extend("force", part, { status = status, result = item.text }))
      end
    end
    return called(state, { id = item.id, name = item.name, title = item.name, status = status, result = item.text })
  end,
}

--- A response that was kept, as `ollm/chat/get` tells it.
---@param kept table
---@param conversation string
---@return ollm.Response
function M.kept(kept, conversation)
  local state = with(M.new(), {
    conversation = conversation,
    id = kept.id,
    model = kept.model,
    usage = vim.tbl_extend("force", { cost = kept.cost }, kept.usage or {}),
    reason = kept.finishReason,
  })
  for _, item in ipairs(kept.items) do
    local step = by_item[item.type]
    state = step and step(state, item) or state
  end
  return state
end

--- The responses of a conversation from its first to its newest one, without branches that were left.
---@param conversation table As `ollm/chat/get` tells it.
---@return table[]
function M.branch(conversation)
  local by_id, newest = {}, nil ---@type table<string, table>, table?
  for _, response in ipairs(conversation.responses) do
    by_id[response.id] = response
    newest = response
  end
  local branch = {}
  while newest do
    table.insert(branch, 1, newest)
    newest = newest.parentId and newest.parentId ~= vim.NIL and by_id[newest.parentId] or nil
  end
  return branch
end

return M
