--- Where a chat is shown.
local options = require("ollm.options")

local api = vim.api
local M = {}

---@param buf integer
---@param size number
---@return integer win
local function float(buf, size)
  local share = math.max(size, 0.6)
  local width, height = math.floor(vim.o.columns * share), math.floor((vim.o.lines - 2) * share)
  return api.nvim_open_win(buf, true, {
    relative = "editor",
    width = width,
    height = height,
    col = math.floor((vim.o.columns - width) / 2),
    row = math.floor((vim.o.lines - height) / 2) - 1,
    border = "rounded",
    title = " ollm ",
  })
end

---@param buf integer
---@return integer win
local function opened(buf)
  local chosen = options.current.chat
  if chosen.layout == "float" then
    return float(buf, chosen.size)
  end
  if chosen.layout == "tab" then
    vim.cmd("tab sbuffer " .. buf)
  elseif chosen.layout == "horizontal" then
    vim.cmd("botright sbuffer " .. buf)
    api.nvim_win_set_height(0, math.floor(vim.o.lines * chosen.size))
  else
    vim.cmd("botright vertical sbuffer " .. buf)
    api.nvim_win_set_width(0, math.floor(vim.o.columns * chosen.size))
  end
  return api.nvim_get_current_win()
end

--- The window that shows a chat in this tab page, if any.
---@param buf integer
---@return integer?
function M.find(buf)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == buf then
      return win
    end
  end
end

--- A window of this tab page that shows another chat, whose place can be taken.
---@return integer?
local function taken()
  local Chat = require("ollm.chat")
  for _, win in ipairs(options.current.chat.layout ~= "tab" and api.nvim_tabpage_list_wins(0) or {}) do
    if Chat.of(api.nvim_win_get_buf(win)) and not vim.wo[win].winfixbuf then
      return win
    end
  end
end

---@param win integer
local function dress(win)
  local view = vim.wo[win][0]
  view.wrap, view.linebreak = true, true
  view.number, view.relativenumber = false, false
  view.foldmethod, view.foldlevel = "expr", 0
  view.foldexpr = "v:lua.require'ollm.chat.folds'.level(v:lnum)"
  view.foldtext = "v:lua.require'ollm.chat.folds'.text()"
  view.fillchars = vim.o.fillchars .. (vim.o.fillchars == "" and "" or ",") .. "fold: "
end

--- Show a chat and go to its end.
---@param buf integer
function M.show(buf)
  local win = M.find(buf)
  if win then
    api.nvim_set_current_win(win)
  else
    win = taken()
    if win then
      api.nvim_set_current_win(win)
      api.nvim_win_set_buf(win, buf)
    else
      win = opened(buf)
    end
    dress(win)
  end
  local last = api.nvim_buf_line_count(buf)
  local line = api.nvim_buf_get_lines(buf, last - 1, last, false)[1] or ""
  api.nvim_win_set_cursor(win, { last, #line })
end

--- Take a chat off the screen. The last window stays.
---@param buf integer
function M.hide(buf)
  local win = M.find(buf)
  if win and not pcall(api.nvim_win_hide, win) then
    vim.cmd.enew()
  end
end

return M
