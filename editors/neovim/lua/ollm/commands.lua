--- `:Ollm` and its subcommands.
local client = require("ollm.client")

local api = vim.api
local M = {}

---@class ollm.Given
---@field text string What follows the name.
---@field place? ollm.Place The lines, or the cursor, in the current document.
---@field quote? string The lines, where they are in no document.

---@class ollm.Subcommand
---@field does string
---@field run fun(given: ollm.Given)
---@field completes? string[] What can follow.

---@param given ollm.Given
---@param fn fun(place: ollm.Place)
local function at_place(given, fn)
  if given.quote then
    client.notify("these lines are in no file. :Ollm chat takes them into a question.", vim.log.levels.WARN)
  elseif given.place then
    fn(given.place)
  else
    client.notify("open a file first.", vim.log.levels.WARN)
  end
end

---@param name string
---@param does string
---@return ollm.Subcommand
local function action(name, does)
  return {
    does = does,
    run = function(given)
      at_place(given, function(place)
        local more = given.text ~= "" and { text = given.text } or {}
        if name == "fix" then
          more.diagnostics = require("ollm.found").at(place)
        end
        require("ollm.actions").at(name, place, more)
      end)
    end,
  }
end

---@param chat ollm.Chat
---@param given ollm.Given
local function open(chat, given)
  if given.place and given.place.first then
    chat:about(given.place)
  end
  if given.quote and given.text == "" then
    chat:write(given.quote)
  end
  chat:show()
  if given.text ~= "" then
    chat:ask((given.quote or "") .. given.text)
  elseif require("ollm.options").current.chat.insert and not chat.is_busy then
    vim.cmd("startinsert!")
  end
end

---@param given ollm.Given
local function ask(given)
  if not given.quote then
    action("ask", "").run(given)
    return
  end
  require("ollm.picker").worded(given.text, "Ask: ", function(words)
    local Chat = require("ollm.chat")
    open(Chat.current() or Chat.fresh(), { text = words, quote = given.quote })
  end)
end

---@param method "send"|"retry"
---@return fun()
local function of_chat(method)
  return function()
    local chat = require("ollm.chat").current()
    if chat then
      chat[method](chat)
    end
  end
end

---@param method "show"|"diff"
---@return fun()
local function of_question(method)
  return function()
    require("ollm.permission")[method]()
  end
end

--- The first word of a text, and the rest.
---@param text string
---@return string, string
local function parted(text)
  local first = text:match("^%S*") or ""
  return first, vim.trim(text:sub(#first + 1))
end

---@param err lsp.ResponseError?
local function told(err)
  if err then
    client.notify(client.failure(err), vim.log.levels.ERROR)
  end
end

--- Run a command of the server that shows its result by itself, or of which nothing is to be shown.
---@param command string
---@param argument table
---@param fn? fun(result: any)
local function execute(command, argument, fn)
  client.with(api.nvim_get_current_buf(), function(lsp)
    client.execute(lsp, command, argument, {
      done = function(err, result)
        told(err)
        if fn and not err then
          fn(result)
        end
      end,
    })
  end)
end

---@param given ollm.Given
local function context(given)
  local Chat = require("ollm.chat")
  local chat = Chat.current()
  client.with(api.nvim_get_current_buf(), function(lsp)
    local params = given.place and require("ollm.place").params(given.place, lsp.offset_encoding) or {}
    params.text = given.text ~= "" and given.text or nil
    params.conversationId = chat and chat.conversation or nil
    require("ollm.picker").ask("ollm/context/preview", params, function(result)
      require("ollm.report").show(require("ollm.preview").text(result), "context")
    end)
  end)
end

---@param given ollm.Given
local function kraken(given)
  local first, rest = parted(given.text)
  local releases = require("ollm.kraken")
  if first == "status" or first == "history" then
    releases[first]()
  elseif first == "config" then
    execute("ollm.kraken.config", {}, function(result)
      vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(result.uri)))
    end)
  else
    local provider = first:match("^@(.*)")
    local text = provider and rest or given.text
    releases.release({ text = text, place = given.place, quote = given.quote, provider = provider })
  end
end

local function doctor()
  execute("ollm.doctor", {}, function(result)
    local signs = { ok = "✓", warning = "!", error = "✗" }
    local lines = { "# Check-up", "" }
    for _, one in ipairs(result.findings) do
      local remedy = type(one.remedy) == "string" and " " .. one.remedy or ""
      table.insert(lines, ("- %s **%s**: %s%s"):format(signs[one.level], one.subject, one.message, remedy))
    end
    require("ollm.report").show(table.concat(lines, "\n"), "doctor")
  end)
end

--- Whatever a model is doing, for chats and for changes.
local function stop()
  for _, lsp in ipairs(vim.lsp.get_clients({ name = client.NAME })) do
    client.execute(lsp, "ollm.cancel", {}, { done = told })
  end
end

---@type table<string, ollm.Subcommand>
M.all = {
  chat = {
    does = "open the chat; with words, ask",
    run = function(given)
      local Chat = require("ollm.chat")
      open(Chat.current() or Chat.fresh(), given)
    end,
  },
  new = {
    does = "begin a new chat",
    run = function(given)
      open(require("ollm.chat").fresh(), given)
    end,
  },
  toggle = {
    does = "show or hide the chat",
    run = function(given)
      local Chat = require("ollm.chat")
      local chat = Chat.current() or Chat.fresh()
      if chat:is_shown() then
        chat:hide()
      else
        open(chat, given)
      end
    end,
  },
  send = { does = "send what is written in the chat", run = of_chat("send") },
  stop = { does = "stop everything that is on its way", run = stop },
  retry = { does = "ask the question at the cursor again, as it is written now", run = of_chat("retry") },
  conversations = {
    does = "go on with a conversation",
    run = function()
      require("ollm.picker").conversation()
    end,
  },
  rename = {
    does = "give a conversation a title",
    run = function(given)
      require("ollm.picker").rename(given.text)
    end,
  },
  delete = {
    does = "delete a conversation",
    run = function()
      require("ollm.picker").delete()
    end,
  },
  models = {
    does = "choose the model of the chat",
    run = function()
      require("ollm.picker").model()
    end,
  },
  pull = {
    does = "fetch a model",
    run = function(given)
      require("ollm.picker").pull(given.text)
    end,
  },
  explain = action("explain", "explain the lines, or the definition at the cursor"),
  ask = { does = "ask about them", run = ask },
  fix = action("fix", "mend what is found in them"),
  refactor = action("refactor", "make them simpler"),
  document = action("document", "add documentation"),
  tests = action("tests", "write tests for them"),
  edit = action("edit", "change them as you say"),
  action = {
    does = "run an action of your own settings",
    run = function(given)
      at_place(given, function(place)
        require("ollm.actions").at("action", place, { name = given.text })
      end)
    end,
  },
  kraken = {
    does = "release the Kraken; @provider chooses",
    run = kraken,
    completes = { "status", "history", "config" },
  },
  context = { does = "show what would be sent along with a question", run = context },
  review = { does = "show the question that is open", run = of_question("show") },
  accept = {
    does = "accept the proposal, or this place of it",
    run = function(given)
      local permission = require("ollm.permission")
      if given.text == "hunk" then
        permission.decide(true)
      else
        permission.accept()
      end
    end,
    completes = { "hunk" },
  },
  reject = {
    does = "reject it; with words, the model is told why",
    run = function(given)
      local permission = require("ollm.permission")
      if given.text == "hunk" then
        permission.decide(false)
      else
        permission.reject(given.text)
      end
    end,
    completes = { "hunk" },
  },
  diff = { does = "show the proposal in two windows", run = of_question("diff") },
  revert = {
    does = "take back the last accepted proposal, in all its files",
    run = function()
      execute("ollm.proposal.revert", {}, function()
        client.notify("the last proposal was taken back.")
      end)
    end,
  },
  doctor = { does = "check settings, providers and models", run = doctor },
  restart = {
    does = "start the server anew",
    run = function()
      client.restart()
    end,
  },
  log = {
    does = "open the log of language servers",
    run = function()
      vim.cmd.tabedit(vim.fn.fnameescape(require("vim.lsp.log").get_filename()))
    end,
  },
}

--- Lines of the current buffer as a question begins with them.
---@param first integer
---@param last integer
---@return string
local function quoted(first, last)
  local lines = api.nvim_buf_get_lines(0, first - 1, last, false)
  return "> " .. table.concat(lines, "\n> ") .. "\n\n"
end

---@param command vim.api.keyset.create_user_command.command_args
function M.run(command)
  local name, text = parted(command.args)
  local sub = M.all[name == "" and "chat" or name]
  if not sub then
    client.notify(("there is no :Ollm %s."):format(name), vim.log.levels.ERROR)
    return
  end
  local buf = require("ollm.place").document()
  local place = buf and { buf = buf } ---@type ollm.Place?
  local given = { text = text, place = place } ---@type ollm.Given
  if command.range > 0 and place and buf == api.nvim_get_current_buf() then
    place.first, place.last = command.line1, command.line2
  elseif command.range > 0 then
    given.quote = quoted(command.line1, command.line2)
  end
  sub.run(given)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(line:gsub("^.-Ollm%s+", ""), "%s+")
  local names = #words < 2 and vim.tbl_keys(M.all) or (M.all[words[1]] or {}).completes or {}
  table.sort(names)
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, #words <= 2 and names or {})
end

return M
