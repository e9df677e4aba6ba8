--- What the user can choose.
local M = {}

---@class ollm.ChatOptions
---@field layout "vertical"|"horizontal"|"float"|"tab"
---@field size number How much of the editor it takes, between 0 and 1.
---@field insert boolean Whether a new chat begins in insert mode.

---@class ollm.ChatKeys
---@field send string In normal mode.
---@field send_insert string In insert mode.
---@field stop string
---@field retry string
---@field model string
---@field conversations string
---@field close string

---@class ollm.ReviewKeys
---@field accept string All of it.
---@field reject string All of it.
---@field accept_hunk string
---@field reject_hunk string
---@field feedback string Reject it and say why.
---@field more string All answers that there are.
---@field next_hunk string
---@field previous_hunk string
---@field diff string As a diff in two windows.
---@field briefing string Edit what a release sends.
---@field close string Decide later.

---@class ollm.Options
---@field keymaps boolean Whether there are keys under `prefix`.
---@field prefix string
---@field diff "inline"|"split" How a change is shown.
---@field restart boolean Whether a server that died is started again.
---@field server vim.lsp.Config What is different from `lsp/ollm_lsp.lua`.
---@field chat ollm.ChatOptions
---@field chat_keys ollm.ChatKeys
---@field review_keys ollm.ReviewKeys
local defaults = {
  keymaps = false,
  prefix = "<leader>a",
  diff = "inline",
  restart = true,
  server = {},
  chat = { layout = "vertical", size = 0.45, insert = true },
  chat_keys = {
    send = "<CR>",
    send_insert = "<C-s>",
    stop = "<C-c>",
    retry = "gR",
    model = "gM",
    conversations = "gC",
    close = "q",
  },
  review_keys = {
    accept = "gA",
    reject = "gX",
    accept_hunk = "ga",
    reject_hunk = "gx",
    next_hunk = "]h",
    previous_hunk = "[h",
    feedback = "gF",
    more = "g.",
    diff = "g=",
    briefing = "gE",
    close = "q",
  },
}

---@type ollm.Options
M.current = vim.deepcopy(defaults)

--- Take what the user has written; whatever is missing stays as it is by default.
---@param written table?
function M.set(written)
  M.current = vim.tbl_deep_extend("force", vim.deepcopy(defaults), written or {})
  for _, keys in ipairs({ M.current.chat_keys, M.current.review_keys }) do
    for name, key in pairs(keys) do
      -- A key that is switched off is an empty text everywhere.
      keys[name] = key or ""
    end
  end
end

return M
