--- Where the user was before a question took them elsewhere, and the way back.
local api = vim.api

---@class ollm.Taken
---@field buf? integer What the window showed; without it, the window was opened.
---@field view? vim.fn.winrestview.dict

---@class ollm.Visit
---@field home? integer The window that the user was in.
---@field taken table<integer, ollm.Taken>
---@field hidden integer[] Chats that float above what is to be seen.
---@field is_ours fun(buf: integer): boolean Whether a buffer belongs to the question.
local Visit = {}
Visit.__index = Visit

---@param is_ours fun(buf: integer): boolean
---@return ollm.Visit
function Visit.new(is_ours)
  return setmetatable({ taken = {}, hidden = {}, is_ours = is_ours }, Visit)
end

--- The user leaves for the question, if they are not there already.
function Visit:leave()
  if not self.home or not self.is_ours(api.nvim_get_current_buf()) then
    self.home = api.nvim_get_current_win()
  end
end

--- Remember what a window shows.
---@param win integer
function Visit:keep(win)
  self.taken[win] = self.taken[win]
    or { buf = api.nvim_win_get_buf(win), view = api.nvim_win_call(win, vim.fn.winsaveview) }
end

--- A window for a file: one that shows it, else one for files, else a new one.
---@param buf integer
function Visit:go_to(buf)
  local win = vim.fn.bufwinid(buf)
  if win ~= -1 then
    self:keep(win)
    api.nvim_set_current_win(win)
    return
  end
  for _, other in ipairs(vim.bo[buf].buftype == "" and api.nvim_tabpage_list_wins(0) or {}) do
    local is_plain = vim.bo[api.nvim_win_get_buf(other)].buftype == "" and not vim.wo[other].winfixbuf
    if is_plain and api.nvim_win_get_config(other).relative == "" then
      self:keep(other)
      api.nvim_set_current_win(other)
      api.nvim_win_set_buf(other, buf)
      return
    end
  end
  vim.cmd("topleft sbuffer " .. buf)
  self.taken[api.nvim_get_current_win()] = {}
end

--- Take chats away that float above the files. Whoever goes to one sees it.
function Visit:uncover()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local config = api.nvim_win_get_config(win)
    local is_chat = vim.bo[api.nvim_win_get_buf(win)].filetype == "markdown.ollm"
    if is_chat and config.relative ~= "" and not config.hide then
      api.nvim_win_set_config(win, { hide = true })
      table.insert(self.hidden, win)
      api.nvim_create_autocmd("WinEnter", {
        callback = function()
          if not api.nvim_win_is_valid(win) then
            return true
          end
          if api.nvim_get_current_win() == win then
            api.nvim_win_set_config(win, { hide = false })
            return true
          end
        end,
      })
    end
  end
end

--- Everything as it was; a window where the user has gone on to something else stays as it is.
---@param is_here boolean Whether the user is still with the question.
function Visit:back(is_here)
  for _, win in ipairs(self.hidden) do
    if api.nvim_win_is_valid(win) then
      api.nvim_win_set_config(win, { hide = false })
    end
  end
  for win, was in pairs(self.taken) do
    if api.nvim_win_is_valid(win) and self.is_ours(api.nvim_win_get_buf(win)) then
      if not was.buf then
        pcall(api.nvim_win_close, win, false)
      elseif api.nvim_buf_is_valid(was.buf) then
        api.nvim_win_set_buf(win, was.buf)
        api.nvim_win_call(win, function()
          vim.fn.winrestview(was.view or {})
        end)
      end
    end
  end
  if is_here and self.home and api.nvim_win_is_valid(self.home) then
    api.nvim_set_current_win(self.home)
  end
  self.home, self.taken, self.hidden = nil, {}, {}
end

return Visit
