-- The command, the `<Plug>` maps and the colours. Everything else is loaded when it is used.
if vim.g.loaded_ollm then
  return
end
vim.g.loaded_ollm = true

if vim.fn.has("nvim-0.10") == 0 then
  vim.notify("ollm needs Neovim 0.10 or newer.", vim.log.levels.ERROR)
  return
end

for name, link in pairs({
  OllmHead = "Title",
  OllmInfo = "Comment",
  OllmAdded = "DiffAdd",
  OllmRemoved = "DiffDelete",
}) do
  vim.api.nvim_set_hl(0, name, { link = link, default = true })
end

vim.api.nvim_create_user_command("Ollm", function(command)
  require("ollm.commands").run(command)
end, {
  nargs = "*",
  range = true,
  desc = "Chat with a model, and let it work on code",
  complete = function(lead, line)
    return require("ollm.commands").complete(lead, line)
  end,
})

require("ollm.keymaps").plug()
