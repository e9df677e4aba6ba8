--- What differs between Neovim 0.10 and its successors.
local options = require("ollm.options")

local M = {}

local is_new = vim.fn.has("nvim-0.11") == 1

--- The functions of a client as 0.10 has them, which are no methods.
---@param client vim.lsp.Client
---@return table<string, function>
local function old(client)
  return client --[[@as table<string, function>]]
end

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param callback fun(err: lsp.ResponseError?, result: any)
---@return boolean is_sent
function M.request(client, method, params, callback)
  if is_new then
    return (
      client:request(method --[[@as any]], params, callback)
    )
  end
  return (old(client).request(method, params, callback))
end

---@param client vim.lsp.Client
---@param method string
---@param params table
function M.notify(client, method, params)
  if is_new then
    client:notify(method --[[@as any]], params)
  else
    old(client).notify(method, params)
  end
end

---@param client vim.lsp.Client
---@return boolean
function M.is_stopped(client)
  if is_new then
    return client:is_stopped()
  end
  return old(client).is_stopped()
end

---@param client vim.lsp.Client
---@param is_forced? boolean
function M.stop(client, is_forced)
  if is_new then
    client:stop(is_forced)
  else
    old(client).stop(is_forced)
  end
end

--- The hunks between two texts: where each begins and how long it is, before and after.
---@param old string
---@param new string
---@return integer[][]
function M.diff(old, new)
  local diff = vim.text and vim.text.diff or vim.diff
  return diff(old, new, { result_type = "indices", algorithm = "histogram" }) --[[@as integer[][] ]]
end

--- The settings of the server: those of `lsp/ollm_lsp.lua` and what the user has added to them.
---@return vim.lsp.Config
function M.config()
  if is_new then
    return vim.deepcopy((vim.lsp.config --[[@as table<string, vim.lsp.Config>]]).ollm_lsp)
  end
  local file = vim.api.nvim_get_runtime_file("lsp/ollm_lsp.lua", false)[1]
  local config = dofile(file) ---@type vim.lsp.Config
  config = vim.tbl_deep_extend("force", config, options.current.server)
  config.name = "ollm_lsp"
  -- Here capabilities take the place of Neovim's own ones; later they are added to them.
  config.capabilities =
    vim.tbl_deep_extend("force", vim.lsp.protocol.make_client_capabilities(), config.capabilities or {})
  return config
end

--- The command that is started, unless the user reaches the server by a function.
---@param config vim.lsp.Config
---@return string[]?
function M.command(config)
  local cmd = config.cmd
  return type(cmd) == "table" and cmd or nil
end

--- Start the server with every file.
function M.enable()
  if is_new then
    vim.lsp.config("ollm_lsp", options.current.server)
    vim.lsp.enable("ollm_lsp")
    return
  end
  local function start(buf)
    if vim.api.nvim_buf_is_valid(buf) and vim.bo[buf].buftype == "" then
      require("ollm.client").start(buf, true)
    end
  end
  vim.api.nvim_create_autocmd("FileType", {
    group = vim.api.nvim_create_augroup("ollm.enable", {}),
    callback = function(args)
      start(args.buf)
    end,
  })
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].filetype ~= "" then
      start(buf)
    end
  end
end

return M
