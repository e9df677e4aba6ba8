--- `:checkhealth ollm`
local client = require("ollm.client")
local compat = require("ollm.compat")

local M = {}

--- Milliseconds; a provider that does not answer takes some seconds.
local PATIENCE = 30000

local function check_editor()
  local call = vim.version --[[@as fun(): vim.Version]]
  local version = tostring(call())
  if vim.fn.has("nvim-0.10") == 0 then
    vim.health.error(("Neovim %s is too old."):format(version), "Install Neovim 0.10 or newer.")
  else
    vim.health.ok("Neovim " .. version)
  end
end

---@param command string[]
---@param ... string
---@return vim.SystemCompleted
local function run(command, ...)
  return vim.system(vim.list_extend(vim.deepcopy(command), { ... }), { text = true }):wait(PATIENCE)
end

---@return string[]? command
local function check_program()
  local command = compat.command(compat.config())
  if not command then
    vim.health.info("the server is reached by a function, your `cmd`.")
    return nil
  end
  if vim.fn.executable(command[1]) == 0 then
    vim.health.error(
      command[1] .. " is not on your PATH.",
      { "Install ollm-lsp; see :help ollm-install.", "Or set `cmd`; see :help ollm-server." }
    )
    return nil
  end
  local done = run(command, "--version")
  if done.code == 0 then
    vim.health.ok(vim.trim(done.stdout or ""))
    return command
  end
  vim.health.error(("%s does not run: %s"):format(table.concat(command, " "), vim.trim(done.stderr or "")))
end

local function check_client()
  local found = client.get()
  if found then
    vim.health.ok(
      ("the server runs in %s, for %d buffers"):format(
        found.root_dir or found.config.root_dir or "no folder",
        vim.tbl_count(found.attached_buffers)
      )
    )
    vim.health.info("positions are counted in " .. found.offset_encoding)
  else
    vim.health.warn(
      "no server runs.",
      { "Open a file.", 'Call require("ollm").setup() or vim.lsp.enable("ollm_lsp").' }
    )
  end
end

---@param command string[]
local function check_models(command)
  local done = run(command, "doctor", "--json")
  local ok, told = pcall(vim.json.decode, done.stdout or "")
  if not ok or type(told) ~= "table" then
    vim.health.warn(("%s doctor does not answer: %s"):format(table.concat(command, " "), vim.trim(done.stderr or "")))
    return
  end
  for _, one in ipairs(told.findings or told) do
    local advice = type(one.remedy) == "string" and { one.remedy } or {}
    local words = ("%s: %s"):format(one.subject, one.message)
    if one.level == "ok" then
      vim.health.ok(words)
    elseif one.level == "warning" then
      vim.health.warn(words, unpack(advice))
    else
      vim.health.error(words, unpack(advice))
    end
  end
end

function M.check()
  vim.health.start("ollm: editor and server")
  check_editor()
  local command = check_program()
  check_client()
  if command then
    vim.health.start("ollm: settings, providers and models")
    check_models(command)
  end
end

return M
