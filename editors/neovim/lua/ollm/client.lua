--- The connection to the language server: found, started, asked, and started again.
local compat = require("ollm.compat")
local options = require("ollm.options")

local M = {}

M.NAME = "ollm_lsp"
--- Two crashes within this many milliseconds are one too many.
local CALM = 10000
--- Milliseconds that a server has to stop in.
local PATIENCE = 3000

---@class ollm.Waiting
---@field give_up fun()
---@field uri? string The document that a command is about.

---@type table<lsp.ProgressToken, fun(value: table)>
local listeners = {}
---@type table<integer, table<integer, ollm.Waiting>>
local waiting = {}
---@type table<integer, true>
local stopping = {}
local number = 0
--- When a server has crashed last, by its folder.
---@type table<string, integer>
local crashes = {}
--- Programs that the user knows are missing.
---@type table<string, true>
local missed = {}

---@class ollm.Request
---@field events? fun(event: table) What happens meanwhile, one event after the other.
---@field progress? fun(value: table) What keeps the user waiting.
---@field done fun(err: lsp.ResponseError?, result: any) Called exactly once, also when the server dies.

---@class ollm.Running
---@field stop fun()

---@param message string
---@param level? integer
function M.notify(message, level)
  vim.notify("ollm: " .. message, level or vim.log.levels.INFO)
end

--- Look again and again, and call as soon as it is so.
---@param is_so fun(): boolean
---@param fn fun()
local function once(is_so, fn)
  local timer = assert(vim.uv.new_timer())
  local look = vim.schedule_wrap(function()
    if not timer:is_closing() and is_so() then
      timer:close()
      fn()
    end
  end)
  timer:start(0, 20, look)
end

--- What a failure is, with what to do about it.
---@param err lsp.ResponseError
---@return string
function M.failure(err)
  local remedy = type(err.data) == "table" and err.data.remedy or nil
  return type(remedy) == "string" and (err.message .. " " .. remedy) or err.message
end

---@param client vim.lsp.Client
---@return string
local function root_of(client)
  return client.root_dir or client.config.root_dir or ""
end

---@param buf integer
---@return boolean
local function is_file(buf)
  return vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) ~= ""
end

--- The client of a buffer. What is no file has any that runs, unless it has one of its own.
---@param buf? integer
---@return vim.lsp.Client?
function M.get(buf)
  local found = buf and vim.lsp.get_clients({ name = M.NAME, bufnr = buf }) or {}
  if not buf or not is_file(buf) then
    vim.list_extend(found, vim.lsp.get_clients({ name = M.NAME }))
  end
  for _, client in ipairs(found) do
    if not compat.is_stopped(client) then
      return client
    end
  end
end

--- Start the server for a buffer, or use the one that runs for its folder.
---@param buf integer
---@param is_by_itself? boolean Nobody asked for it just now: what is missing is told once.
---@return integer? client_id
function M.start(buf, is_by_itself)
  local config = compat.config()
  local root = vim.fs.root(buf, config.root_markers or { ".git" })
  config.root_dir = type(config.root_dir) == "string" and config.root_dir or root
  local program = (compat.command(config) or {})[1]
  if program and vim.fn.executable(program) == 0 then
    if not (is_by_itself and missed[program]) then
      missed[program] = true
      M.notify(
        ("%s is not on your PATH. Install it, or set `cmd`; see :help ollm-install."):format(program),
        vim.log.levels.ERROR
      )
    end
    return nil
  end
  return vim.lsp.start(config, { bufnr = buf })
end

--- Call with the client as soon as it can be asked. It is started if it does not run.
---@param buf integer The buffer that it is about.
---@param fn fun(client: vim.lsp.Client)
---@param otherwise? fun() Called when there is none to be had.
function M.with(buf, fn, otherwise)
  otherwise = otherwise or function() end
  local client = M.get(buf)
  if client then
    fn(client)
    return
  end
  local id = M.start(buf)
  if not id then
    otherwise()
    return
  end
  local started ---@type vim.lsp.Client?
  once(function()
    started = vim.lsp.get_client_by_id(id)
    return not started or started.initialized or false
  end, function()
    if started then
      fn(started)
    else
      otherwise()
    end
  end)
end

--- Ask the server.
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param request ollm.Request
---@return ollm.Running
function M.request(client, method, params, request)
  number = number + 1
  local mine = number
  local open = waiting[client.id] or {}
  waiting[client.id] = open
  local events, work = "ollm-events-" .. number, "ollm-work-" .. number
  local argument = params.arguments and params.arguments[1] or params
  if request.events then
    argument.partialResultToken, argument.workDoneToken = events, work
    listeners[events], listeners[work] = request.events, request.progress
  end
  local is_done = false
  local function done(err, result)
    if not is_done then
      is_done = true
      listeners[events], listeners[work] = nil, nil
      open[mine] = nil
      request.done(err, result)
    end
  end
  open[mine] = {
    uri = params.command and argument.uri,
    give_up = function()
      done({ code = -32803, message = "The server has ended.", data = { remedy = "Send it again." } })
    end,
  }
  if not compat.request(client, method, params, done) then
    vim.schedule(function()
      done({ code = -32803, message = "The server does not run.", data = { remedy = "Try :Ollm restart." } })
    end)
  end
  return {
    stop = function()
      compat.notify(client, "window/workDoneProgress/cancel", { token = work })
    end,
  }
end

--- Run a command of the server.
---@param client vim.lsp.Client
---@param command string
---@param argument table
---@param request ollm.Request
---@return ollm.Running
function M.execute(client, command, argument, request)
  argument = next(argument) and argument or vim.empty_dict()
  return M.request(client, "workspace/executeCommand", { command = command, arguments = { argument } }, request)
end

--- Take progress that was asked for here.
---@param params lsp.ProgressParams
---@return boolean is_event Whether nobody else can understand it.
function M.take(params)
  local listener = listeners[params.token]
  if listener then
    listener(params.value --[[@as table]])
  end
  return type(params.token) == "string" and vim.startswith(params.token, "ollm-events-")
end

--- Whether a command about the document of a buffer is on its way.
---@param client_id integer
---@param buf integer
---@return boolean
function M.is_asked_about(client_id, buf)
  local uri = vim.uri_from_bufnr(buf)
  for _, one in pairs(waiting[client_id] or {}) do
    if one.uri == uri then
      return true
    end
  end
  return false
end

--- Neovim tells of the end of a server as well, in words so long that they wait for a key. Ours take their place.
---@param ended fun() Called when Neovim has said it.
local function instead_of_neovim(ended)
  local notify = vim.notify
  local function quieter(words, ...)
    if not vim.startswith(tostring(words), ("Client %s quit"):format(M.NAME)) then
      return notify(words, ...)
    end
  end
  vim.notify = quieter
  -- It speaks in the second of two turns.
  vim.schedule(vim.schedule_wrap(function()
    if vim.notify == quieter then
      vim.notify = notify
    end
    ended()
  end))
end

--- The server's process has ended, whyever.
---@param code integer
---@param signal integer
---@param client_id integer
function M.ended(code, signal, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  local buffers = client and vim.tbl_keys(client.attached_buffers) or {}
  local root = client and root_of(client) or ""
  instead_of_neovim(function()
    local left = waiting[client_id] or {}
    waiting[client_id] = nil
    for _, one in pairs(left) do
      one.give_up()
    end
    require("ollm.permission").forget(client_id)
    require("ollm.status").forget(client_id)
    local is_meant = stopping[client_id] or (code == 0 and signal == 0) or vim.v.exiting ~= vim.NIL
    stopping[client_id] = nil
    if is_meant then
      return
    end
    local now, before = vim.uv.now(), crashes[root]
    if not options.current.restart or (before and now - before < CALM) then
      M.notify("the server has died. See :Ollm log, then try :Ollm restart.", vim.log.levels.ERROR)
      return
    end
    crashes[root] = now
    once(function()
      return vim.lsp.get_client_by_id(client_id) == nil
    end, function()
      M.notify("the server has died and is started again.", vim.log.levels.WARN)
      M.attach(buffers)
    end)
  end)
end

--- Start the server for these buffers.
---@param buffers integer[]
function M.attach(buffers)
  local chats = {}
  for _, buf in ipairs(buffers) do
    if vim.api.nvim_buf_is_loaded(buf) then
      if vim.bo[buf].buftype == "" then
        M.start(buf)
      else
        table.insert(chats, buf)
      end
    end
  end
  for _, buf in ipairs(chats) do
    M.with(buf, function(client)
      if vim.api.nvim_buf_is_loaded(buf) then
        vim.lsp.buf_attach_client(buf, client.id)
      end
    end)
  end
end

--- Stop the servers, if need be by force, and start them anew for the same buffers.
function M.restart()
  local buffers = {} ---@type table<integer, any>
  local clients = vim.lsp.get_clients({ name = M.NAME })
  for _, client in ipairs(clients) do
    stopping[client.id] = true
    buffers = vim.tbl_extend("keep", buffers, client.attached_buffers)
    compat.stop(client)
  end
  vim.defer_fn(function()
    for _, client in ipairs(clients) do
      if vim.lsp.get_client_by_id(client.id) then
        compat.stop(client, true)
      end
    end
  end, PATIENCE)
  once(function()
    return #vim.lsp.get_clients({ name = M.NAME }) == 0
  end, function()
    M.attach(#clients > 0 and vim.tbl_keys(buffers) or { vim.api.nvim_get_current_buf() })
  end)
end

return M
