--- Actions on code: answers go into a chat, changes are proposed where they would be made.
local Chat = require("ollm.chat")
local client = require("ollm.client")
local places = require("ollm.place")

local api = vim.api
local ns = api.nvim_create_namespace("ollm.action")
local M = {}

--- What each action says that it does, and what it asks the user for.
---@type table<string, string>
local TITLES = {
  explain = "Explain",
  ask = "Ask about",
  fix = "Fix",
  refactor = "Refactor",
  document = "Document",
  tests = "Write tests for",
  edit = "Edit",
  action = "Do",
}
local ANSWERS = { explain = true, ask = true }
local NEEDED = { ask = "Ask: ", edit = "Change: " }

--- A sign at the place of a change that is on its way.
---@param buf integer
---@param row integer
---@param title string
---@return fun(text: string?) tell Without a text, the sign goes.
local function sign(buf, row, title)
  local mark = nil ---@type integer?
  return function(text)
    if not api.nvim_buf_is_loaded(buf) then
      return
    end
    if not text then
      if mark then
        api.nvim_buf_del_extmark(buf, ns, mark)
      end
      return
    end
    local at = mark and api.nvim_buf_get_extmark_by_id(buf, ns, mark, {})[1] or row
    mark = api.nvim_buf_set_extmark(buf, ns, math.min(at, api.nvim_buf_line_count(buf) - 1), 0, {
      id = mark,
      virt_text = { { (" ollm: %s · %s"):format(title, text), "OllmInfo" } },
    })
  end
end

---@param name string
---@param argument table
---@param buf integer
local function answer(name, argument, buf)
  local range = argument.range
  local place = { buf = buf } ---@type ollm.Place
  if range and range["end"].line > range.start.line then
    place.first, place.last = range.start.line + 1, range["end"].line + 1
  end
  local chat = Chat.fresh()
  chat:show()
  local title = argument.text or ("%s %s"):format(TITLES[name], places.words(place))
  local function start(lsp, request, asked)
    local words = asked.text ~= title and asked.text or argument.text
    return client.execute(lsp, "ollm." .. name, vim.tbl_extend("force", argument, { text = words }), request)
  end
  chat:ask(title, { speaker = "you", place = place, start = start })
end

---@param result table
local function told(result)
  if result.applied then
    return
  end
  if result.reason then
    client.notify("nothing was changed. " .. result.reason, vim.log.levels.WARN)
    require("ollm.report").show(result.text, "answer")
  elseif result.finishReason ~= "cancelled" and result.applied == nil then
    require("ollm.report").show(result.text, "answer")
  end
end

---@param name string
---@param argument table
---@param buf integer
local function change(name, argument, buf)
  local row = vim.tbl_get(argument, "range", "start", "line") or 0
  local tell = sign(buf, row, TITLES[name])
  tell("…")
  client.with(buf, function(lsp)
    local is_running = true
    client.execute(lsp, "ollm." .. name, argument, {
      events = function() end,
      progress = function(value)
        if is_running and value.kind ~= "end" then
          tell(require("ollm.render").progress(value))
        end
      end,
      done = function(err, result)
        is_running = false
        tell(nil)
        if err then
          client.notify(client.failure(err), vim.log.levels.ERROR)
        else
          told(result)
        end
      end,
    })
  end, function()
    tell(nil)
  end)
end

--- Run an action of the server; it is asked for its text first where it needs one.
---@param name string
---@param argument table
---@param buf integer
function M.run(name, argument, buf)
  local function go()
    if ANSWERS[name] then
      answer(name, argument, buf)
    else
      change(name, argument, buf)
    end
  end
  if not NEEDED[name] or argument.text then
    go()
    return
  end
  vim.ui.input({ prompt = NEEDED[name] }, function(text)
    if text and vim.trim(text) ~= "" then
      argument.text = text
      go()
    end
  end)
end

--- Run an action at a place of the current document.
---@param name string
---@param place ollm.Place
---@param more? table
function M.at(name, place, more)
  client.with(place.buf, function(lsp)
    local argument = places.params(place, lsp.offset_encoding)
    M.run(name, vim.tbl_extend("force", argument, more or {}), place.buf)
  end)
end

return M
