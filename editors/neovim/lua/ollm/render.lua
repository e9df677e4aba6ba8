--- Parts of a response as lines of Markdown, and what is told beside them. Pure.
local M = {}

--- What begins a note that can be folded.
M.FOLD = "> [!ollm] ▸ "
--- Lines of a tool's result that are shown.
local MOST = 200

local STATUS = {
  pending = "…",
  running = "…",
  awaitingPermission = "waits for you",
  completed = "✓",
  failed = "✗ failed",
  denied = "✗ denied",
}

---@param text string
---@return string
function M.quoted(text)
  return (text:gsub("\n", "\n> "))
end

---@param value any
---@return string
local function written(value)
  return type(value) == "string" and value or vim.json.encode(value)
end

---@param part ollm.ToolPart
---@return string
local function tool(part)
  local lines = { M.FOLD .. part.title .. " " .. (STATUS[part.status] or part.status) }
  local arguments = part.arguments or {}
  local names = vim.tbl_keys(arguments)
  table.sort(names)
  for _, name in ipairs(names) do
    table.insert(lines, ("> %s: %s"):format(name, M.quoted(written(arguments[name]))))
  end
  local result = vim.split(part.result or "", "\n", { plain = true })
  if #result > MOST then
    result = vim.list_extend(vim.list_slice(result, 1, MOST), { ("… and %d more lines"):format(#result - MOST) })
  end
  if part.result then
    table.insert(lines, ">")
    for _, line in ipairs(result) do
      table.insert(lines, "> " .. line)
    end
  end
  return table.concat(lines, "\n")
end

---@param part ollm.NotePart
---@return string
local function note(part)
  local head = part.level == "info" and "> [!ollm] " or ("> [!ollm] %s: "):format(part.level)
  return head .. M.quoted(part.message) .. (part.remedy and "\n> " .. M.quoted(part.remedy) or "")
end

--- A part as it stands in the chat.
---@param part ollm.Part
---@return string
function M.part(part)
  if part.type == "tool" then
    return tool(part --[[@as ollm.ToolPart]])
  elseif part.type == "note" then
    return note(part --[[@as ollm.NotePart]])
  end
  local text = part.text or ""
  return part.type == "reasoning" and M.FOLD .. "thoughts\n> " .. M.quoted(text) or text
end

---@param cost table
---@return string
function M.money(cost)
  if cost.amount == 0 and cost.known then
    return "free"
  end
  -- Little is rounded up: it never looks like nothing.
  local little = math.ceil(cost.amount * 1e4 - 1e-6) / 1e4
  local amount = cost.amount < 0.01 and ("$%.4f"):format(little) or ("$%.2f"):format(cost.amount)
  return cost.known and amount or "at most " .. amount
end

local ENDS = { cancelled = "stopped", length = "cut short", error = "failed", max_turns = "too many turns" }

--- What is told behind the heading of an answer: model, tokens, cost, time.
---@param state ollm.Response
---@return string
function M.summary(state)
  local words = { state.model }
  local usage = state.usage
  if usage and (usage.outputTokens or 0) > 0 then
    table.insert(words, ("%d → %d tokens"):format(usage.inputTokens, usage.outputTokens))
  end
  if usage and usage.cost then
    table.insert(words, M.money(usage.cost))
  end
  if state.seconds then
    table.insert(words, ("%.1f s"):format(state.seconds))
  end
  table.insert(words, ENDS[state.reason])
  return table.concat(words, " · ")
end

--- What is told while an answer is awaited.
---@param value table Work-done progress.
---@return string
function M.progress(value)
  local words = { value.message or value.title }
  if value.percentage then
    table.insert(words, ("%d%%"):format(value.percentage))
  end
  return table.concat(words, " ")
end

return M
