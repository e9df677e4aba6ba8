--- What of which document is meant.
local api = vim.api
local M = {}

---@class ollm.Place
---@field buf integer
---@field first? integer The first of some lines, from 1. Without it, the cursor is meant.
---@field last? integer

---@type integer?
local last_used

---@param buf integer
---@return boolean
local function is_document(buf)
  return api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" and api.nvim_buf_get_name(buf) ~= ""
end

api.nvim_create_autocmd("BufEnter", {
  group = api.nvim_create_augroup("ollm.place", {}),
  callback = function(args)
    if is_document(args.buf) then
      last_used = args.buf
    end
  end,
})

--- The document that the user is in, or was in before a chat.
---@return integer?
function M.document()
  local here = api.nvim_get_current_buf()
  if is_document(here) then
    last_used = here
  end
  return last_used and is_document(last_used) and last_used or nil
end

--- The window whose cursor is meant: of those that show a document, the one that the user is in, or was in last.
---@param buf integer
---@return integer?
function M.window(buf)
  for _, win in ipairs({ api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr("#")), vim.fn.bufwinid(buf) }) do
    if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf then
      return win
    end
  end
end

--- A place as the server understands it.
---@param place ollm.Place
---@param encoding "utf-8"|"utf-16"|"utf-32"
---@return table
function M.params(place, encoding)
  local uri = vim.uri_from_bufnr(place.buf)
  local first, last = place.first, place.last
  if first and last then
    last = math.min(last, api.nvim_buf_line_count(place.buf))
    first = math.min(first, last)
    local line = api.nvim_buf_get_lines(place.buf, last - 1, last, false)[1] or ""
    local ends = { last, math.max(#line - 1, 0) }
    local given = vim.lsp.util.make_given_range_params({ first, 0 }, ends, place.buf, encoding)
    return { uri = uri, range = given.range }
  end
  local win = M.window(place.buf)
  if not win then
    return { uri = uri }
  end
  return { uri = uri, range = vim.lsp.util.make_range_params(win, encoding).range }
end

--- A place as people read it.
---@param place ollm.Place
---@return string
function M.words(place)
  local name = vim.fn.fnamemodify(api.nvim_buf_get_name(place.buf), ":t")
  if not place.first then
    return name
  end
  return place.first == place.last and ("%s:%d"):format(name, place.first)
    or ("%s:%d-%d"):format(name, place.first, place.last)
end

return M
