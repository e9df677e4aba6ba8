-- The language server, for `vim.lsp.enable("ollm_lsp")`. It has no file types: it is for every file, beside other servers.

---@type vim.lsp.Config
return {
  cmd = { "ollm-lsp" },
  root_markers = { ".git" },
  capabilities = { experimental = { ollm = { permission = true, status = true, diagnostics = true } } },
  handlers = require("ollm.incoming").handlers,
  commands = require("ollm.incoming").commands,
  on_exit = function(code, signal, client_id)
    require("ollm.client").ended(code, signal, client_id)
  end,
}
