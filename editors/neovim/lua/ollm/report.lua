--- A text to read, in a window of its own.
local api = vim.api
local M = {}

--- Show Markdown; `q` closes it.
---@param text string
---@param name string
function M.show(text, name)
  local title = ("ollm://%s"):format(name)
  local old = vim.fn.bufnr("^" .. title .. "$")
  local buf = old ~= -1 and old or api.nvim_create_buf(false, true)
  if old == -1 then
    api.nvim_buf_set_name(buf, title)
    vim.bo[buf].filetype = "markdown"
    vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buf, desc = "ollm: close" })
  end
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, "\n", { plain = true }))
  vim.bo[buf].modifiable = false
  if vim.fn.bufwinid(buf) == -1 then
    vim.cmd("botright sbuffer " .. buf)
    api.nvim_win_set_height(0, math.min(api.nvim_buf_line_count(buf) + 1, math.floor(vim.o.lines / 2)))
  end
end

return M
