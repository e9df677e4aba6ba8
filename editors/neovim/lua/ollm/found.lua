--- What other language servers and linters have found.
local M = {}

---@param one vim.Diagnostic
---@return table
function M.as_lsp(one)
  return {
    uri = vim.uri_from_bufnr(one.bufnr),
    range = {
      start = { line = one.lnum, character = one.col },
      ["end"] = { line = one.end_lnum or one.lnum, character = one.end_col or one.col },
    },
    severity = one.severity or vim.diagnostic.severity.ERROR,
    source = one.source,
    code = one.code,
    message = one.message,
  }
end

--- In a buffer, or in all of them. What ollm itself has marked is left out.
---@param buf? integer
---@return table[]
function M.all(buf)
  local others = vim.tbl_filter(function(one)
    return one.source ~= "ollm"
  end, vim.diagnostic.get(buf))
  return vim.tbl_map(M.as_lsp, others)
end

--- At a place; if that has none, the server looks by itself.
---@param place ollm.Place
---@return table[]?
function M.at(place)
  local first, last = place.first, place.last
  if not first then
    local win = require("ollm.place").window(place.buf)
    first = win and vim.api.nvim_win_get_cursor(win)[1] or 1
    last = first
  end
  local here = vim.tbl_filter(function(one)
    return one.range.start.line < last and one.range["end"].line >= first - 1
  end, M.all(place.buf))
  for _, one in ipairs(here) do
    one.uri = nil
  end
  return #here > 0 and here or nil
end

return M
