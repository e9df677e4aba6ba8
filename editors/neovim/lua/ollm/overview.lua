--- External providers and what they were used for, as text to read. Pure.
local render = require("ollm.render")

local M = {}

--- Who can be asked, and what is left of the budget.
---@param result table As `ollm/kraken/status` tells it.
---@return string
function M.status(result)
  local lines = { "# Kraken: " .. result.state:gsub("_", " "), "" }
  for _, one in ipairs(result.providers) do
    local state = one.available and "ready" or ("%s %s"):format(one.error or "not available", one.remedy or "")
    table.insert(lines, ("- **%s** (%s): %s"):format(one.name, one.model or one.type, vim.trim(state)))
  end
  local budget = result.budget
  if budget and budget ~= vim.NIL then
    local left = budget.remaining and ("; $%.2f are left"):format(budget.remaining) or ""
    vim.list_extend(lines, { "", ("Spent: $%.2f%s"):format(budget.spent, left) })
  end
  return table.concat(lines, "\n")
end

--- What it was used for, the newest first.
---@param result table As `ollm/kraken/history` tells it.
---@return string
function M.history(result)
  local lines = { "# Releases", "", "| when | who | tokens | cost | |", "| --- | --- | --- | --- | --- |" }
  for _, one in ipairs(result.releases) do
    local tokens = ("%d → %d"):format(one.usage.inputTokens, one.usage.outputTokens)
    local ending = one.success and "" or one.error or "failed"
    local cost = one.kind == "plan" and "plan" or render.money(one.cost)
    local who = ("%s (%s)"):format(one.provider, one.model)
    table.insert(lines, ("| %s | %s | %s | %s | %s |"):format(one.timestamp:sub(1, 16), who, tokens, cost, ending))
  end
  return table.concat(lines, "\n")
end

return M
