--- `<Plug>` maps for everything, and keys under a prefix for whoever wants them.
local options = require("ollm.options")

local M = {}

---@class ollm.Keymap
---@field [1] string The name of its `<Plug>` map.
---@field [2] string The key under the prefix.
---@field [3] string What it does, as arguments of `:Ollm`.
---@field [4] string[] Modes.

---@type ollm.Keymap[]
M.all = {
  { "chat", "c", "chat", { "n", "x" } },
  { "new", "n", "new", { "n", "x" } },
  { "toggle", "t", "toggle", { "n" } },
  { "ask", "a", "ask", { "n", "x" } },
  { "explain", "e", "explain", { "n", "x" } },
  { "fix", "f", "fix", { "n", "x" } },
  { "edit", "i", "edit", { "n", "x" } },
  { "refactor", "r", "refactor", { "n", "x" } },
  { "document", "d", "document", { "n", "x" } },
  { "tests", "u", "tests", { "n", "x" } },
  { "kraken", "k", "kraken", { "n", "x" } },
  { "models", "m", "models", { "n" } },
  { "conversations", "l", "conversations", { "n" } },
  { "context", "x", "context", { "n" } },
  { "review", "v", "review", { "n" } },
  { "revert", "z", "revert", { "n" } },
  { "stop", "s", "stop", { "n" } },
}

--- `<Plug>(ollm-NAME)`, always there.
function M.plug()
  for _, one in ipairs(M.all) do
    local name, _, command, modes = unpack(one)
    for _, mode in ipairs(modes) do
      -- In visual mode `:` puts the selected lines in front.
      local keys = mode == "x" and (":Ollm %s<CR>"):format(command) or ("<Cmd>Ollm %s<CR>"):format(command)
      vim.keymap.set(mode, ("<Plug>(ollm-%s)"):format(name), keys, { silent = true, desc = "ollm: " .. name })
    end
  end
end

--- The keys under the prefix, if the user wants them. Keys that are taken stay as they are.
function M.set()
  if not options.current.keymaps then
    return
  end
  for _, one in ipairs(M.all) do
    local name, key, _, modes = unpack(one)
    local full = options.current.prefix .. key
    for _, mode in ipairs(modes) do
      if vim.fn.maparg(full, mode) == "" then
        vim.keymap.set(mode, full, ("<Plug>(ollm-%s)"):format(name), { remap = true, desc = "ollm: " .. name })
      end
    end
  end
end

return M
