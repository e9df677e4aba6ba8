--- The keys that answer a question. They are there as long as it is, and give way to what was there before.
local options = require("ollm.options")

local M = {}

--- What each key does, in the order in which it is told.
local DOES = {
  { "accept", "accept", "accept" },
  { "reject", "reject", "reject" },
  { "accept_hunk", "this place", "decide", true },
  { "reject_hunk", "not this place", "decide", false },
  { "next_hunk", "next place", "go", 1 },
  { "previous_hunk", "previous place", "go", -1 },
  { "feedback", "say why not", "feedback" },
  { "diff", "two windows", "diff" },
  { "briefing", "edit the briefing", "edit_briefing" },
  { "more", "more", "more" },
  { "close", "later", "hide" },
}

---@alias ollm.KeyName "accept"|"reject"|"accept_hunk"|"reject_hunk"|"next_hunk"|"previous_hunk"|"feedback"|"diff"|"briefing"|"more"|"close"

--- Set keys in a buffer, all or none.
---@param buf integer
---@param names table<ollm.KeyName, true>
---@return fun() unset
function M.set(buf, names)
  local old, set = {}, {} ---@type table[], string[]
  local function unset()
    if not vim.api.nvim_buf_is_valid(buf) then
      return
    end
    for _, key in ipairs(set) do
      pcall(vim.keymap.del, "n", key, { buffer = buf })
    end
    vim.api.nvim_buf_call(buf, function()
      for _, before in ipairs(old) do
        vim.fn.mapset("n", false, before)
      end
    end)
  end
  local ok, why = pcall(function()
    for _, one in ipairs(DOES) do
      local name, what, method, argument = unpack(one)
      local key = options.current.review_keys[name]
      if names[name] and key ~= "" then
        vim.api.nvim_buf_call(buf, function()
          local before = vim.fn.maparg(key, "n", false, true)
          if before.buffer == 1 then
            table.insert(old, before)
          end
        end)
        vim.keymap.set("n", key, function()
          require("ollm.permission")[method](argument --[[@as any]])
        end, { buffer = buf, desc = "ollm: " .. what, nowait = true })
        table.insert(set, key)
      end
    end
  end)
  if not ok then
    unset()
    error(why, 0)
  end
  return unset
end

--- The keys as people read them.
---@param names table<ollm.KeyName, true>
---@return string
function M.words(names)
  local words = {}
  for _, one in ipairs(DOES) do
    local key = options.current.review_keys[one[1]]
    if names[one[1]] and key ~= "" then
      table.insert(words, ("%s %s"):format(key, one[2]))
    end
  end
  return table.concat(words, "  ")
end

return M
