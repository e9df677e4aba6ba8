--- What would be sent along with a question, as Markdown. Pure.
local M = {}

---@param part table
---@return string
local function headed(part)
  local name = type(part.uri) == "string" and " " .. vim.fn.fnamemodify(vim.uri_to_fname(part.uri), ":~:.") or ""
  return ("## %s%s · %d tokens · %s"):format(part.source, name, part.tokens, part.reason)
end

---@param result table As `ollm/context/preview` tells it.
---@return string
function M.text(result)
  local about = result.isEstimate and "about " or ""
  local lines = { ("# %s: %s%d of %d tokens"):format(result.model, about, result.totalTokens, result.limit), "" }
  for _, warning in ipairs(result.warnings) do
    table.insert(lines, ("> %s %s"):format(warning.message, warning.remedy or ""))
  end
  for _, part in ipairs(result.parts) do
    vim.list_extend(lines, { headed(part), "", part.text, "" })
  end
  return table.concat(lines, "\n")
end

return M
