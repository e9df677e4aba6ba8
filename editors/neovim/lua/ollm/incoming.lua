--- What the server says and asks by itself, and its commands where the editor does more than to pass them on.
local M = {}

--- What others have found in a document, or in all of them.
---@param uri? string
---@return table[]
local function diagnostics(uri)
  if not uri then
    return require("ollm.found").all()
  end
  -- bufnr() takes a name for a pattern, by which a.py could be a.pyi.
  local path = vim.uri_to_fname(uri)
  return vim.fn.bufexists(path) == 1 and require("ollm.found").all(vim.fn.bufadd(path)) or {}
end

---@type table<string, lsp.Handler>
M.handlers = {
  ["$/progress"] = function(err, params, ctx)
    if not require("ollm.client").take(params) then
      return vim.lsp.handlers["$/progress"](err, params, ctx)
    end
  end,
  ["$/cancelRequest"] = function(_, params, ctx)
    require("ollm.permission").withdraw(ctx.client_id, params.id)
  end,
  ["ollm/status"] = function(_, params, ctx)
    require("ollm.status").take(ctx.client_id, params)
  end,
  ["ollm/permission"] = function(_, params, ctx)
    return require("ollm.permission").ask(params, ctx.client_id)
  end,
  ["ollm/diagnostics"] = function(_, params)
    return { diagnostics = diagnostics(params.uri) }
  end,
}

---@type table<string, fun(command: lsp.Command, ctx: table)>
M.commands = {}

for _, name in ipairs({ "explain", "ask", "fix", "refactor", "document", "tests", "edit", "action" }) do
  M.commands["ollm." .. name] = function(command, ctx)
    require("ollm.actions").run(name, vim.tbl_get(command, "arguments", 1) or {}, ctx.bufnr)
  end
end

M.commands["ollm.kraken.release"] = function(command, ctx)
  require("ollm.kraken").release_on(vim.tbl_get(command, "arguments", 1) or {}, ctx.bufnr)
end

-- A chat here is no file that the server writes into: its code lenses and code actions do what its keys do.
for name, method in pairs({ ["ollm.chat.send"] = "send", ["ollm.chat.stop"] = "stop" }) do
  M.commands[name] = function(command, ctx)
    local chat = require("ollm.chat").of(ctx.bufnr)
    if chat then
      chat[method](chat)
      return
    end
    local client = require("ollm.client")
    client.execute(
      assert(vim.lsp.get_client_by_id(ctx.client_id)),
      name,
      vim.tbl_get(command, "arguments", 1) or {},
      { done = function() end }
    )
  end
end

return M
