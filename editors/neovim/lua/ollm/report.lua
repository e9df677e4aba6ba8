--- A text to read, in a window of its own.
local api = vim.api
local M = {}

---@type table<string, integer>
local shown = {}

--- Show Markdown; `q` closes it.
---@param text string
---@param name string
---@return integer buf
function M.show(text, name)
  local old = shown[name]
  local win = old and api.nvim_buf_is_valid(old) and vim.fn.bufwinid(old) or -1
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, "\n", { plain = true }))
  if win ~= -1 then
    api.nvim_win_set_buf(win, buf)
  else
    vim.cmd("botright sbuffer " .. buf)
    api.nvim_win_set_height(0, math.min(api.nvim_buf_line_count(buf) + 1, math.floor(vim.o.lines / 2)))
  end
  if old and api.nvim_buf_is_valid(old) then
    api.nvim_buf_delete(old, { force = true })
  end
  api.nvim_buf_set_name(buf, ("ollm://%s"):format(name))
  vim.bo[buf].filetype = "markdown"
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].modifiable = false
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buf, desc = "ollm: close" })
  shown[name] = buf
  return buf
end

return M
