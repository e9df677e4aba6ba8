--- What the server tells of itself, for statuslines.
local M = {}

---@class ollm.Status
---@field kraken "ready"|"active"|"none"|"over_budget"
---@field model string
---@field busy boolean
---@field spent number Dollars.
---@field budget? number Dollars.
---@field contextTokens? integer
---@field contextLimit? integer

---@type table<integer, ollm.Status>
local told = {}

--- Something has changed that statuslines may show.
function M.announce()
  vim.api.nvim_exec_autocmds("User", { pattern = "OllmStatus", modeline = false })
  -- :redrawstatus would draw everything at once, which takes long while an answer comes.
  vim.api.nvim__redraw({ statusline = true, flush = false })
end

---@param client_id integer
---@param status ollm.Status
function M.take(client_id, status)
  told[client_id] = status
  M.announce()
end

--- The server is gone.
---@param client_id integer
function M.forget(client_id)
  if told[client_id] then
    told[client_id] = nil
    M.announce()
  end
end

--- What the server of a buffer has told last.
---@param buf? integer
---@return ollm.Status?
function M.get(buf)
  local client = require("ollm.client").get(buf or vim.api.nvim_get_current_buf())
  return client and told[client.id] or nil
end

---@param status ollm.Status
---@return string
function M.words(status)
  local words = { status.busy and "●" or "○", status.model }
  local limit = status.contextLimit or 0
  if status.contextTokens and limit > 0 then
    table.insert(words, ("%.1fk/%.0fk"):format(status.contextTokens / 1000, limit / 1000))
  end
  if status.kraken == "active" then
    table.insert(words, "Kraken")
  elseif status.kraken == "over_budget" then
    table.insert(words, "over budget")
  end
  if (status.spent or 0) > 0 then
    table.insert(words, ("$%.2f"):format(status.spent))
  end
  return table.concat(words, " ")
end

--- One short text, empty where no server runs and nothing is asked.
---@return string
function M.text()
  local status = M.get()
  local words = { status and M.words(status) }
  if require("ollm.permission").is_asking() then
    table.insert(words, "a question waits")
  end
  return table.concat(words, " · ")
end

return M
