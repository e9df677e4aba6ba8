--- What users call.
local M = {}

--- Take options, and start the server with every file. Everything works without it, once the server is enabled.
---@param written? table See |ollm-options|.
function M.setup(written)
  -- Neovim has not sourced it where the plugin was added to the runtime path only now.
  vim.cmd.runtime("plugin/ollm.lua")
  require("ollm.options").set(written)
  require("ollm.keymaps").set()
  require("ollm.compat").enable()
end

--- One short text for a statusline, empty where no server runs and nothing is asked.
---@return string
function M.status()
  return require("ollm.status").text()
end

--- Run a subcommand of |:Ollm|, for keys of your own: `require("ollm").run("explain")`.
---@param ... string
function M.run(...)
  vim.cmd.Ollm({ args = { ... } })
end

return M
