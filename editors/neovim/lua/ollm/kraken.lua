--- Releases: an external provider is asked, after the user has allowed it, and answers in a chat.
local Chat = require("ollm.chat")
local client = require("ollm.client")
local picker = require("ollm.picker")
local places = require("ollm.place")

local M = {}

---@param chat ollm.Chat
---@param text string
---@param provider string
---@param context table?
local function release(chat, text, provider, context)
  chat:show()
  local function start(lsp, request, asked)
    local params = vim.tbl_extend("force", asked, { provider = provider, context = context })
    return client.request(lsp, "ollm/kraken/release", params, request)
  end
  chat:ask(text, { speaker = "you", start = start })
end

local PROMPT = "Release the Kraken: "

---@class ollm.Release
---@field text? string
---@field place? ollm.Place
---@field quote? string Stands before the words.
---@field provider? string

--- Release: pick a provider, then ask it in the current chat.
---@param given ollm.Release
function M.release(given)
  local place = given.place
  local function go(provider)
    picker.worded(given.text, PROMPT, function(words)
      client.with(place and place.buf or vim.api.nvim_get_current_buf(), function(lsp)
        local chat = Chat.current()
        local context = place and places.params(place, lsp.offset_encoding) or nil
        release(chat and not chat.is_busy and chat or Chat.fresh(), (given.quote or "") .. words, provider, context)
      end)
    end)
  end
  if given.provider then
    go(given.provider)
  else
    picker.provider(go)
  end
end

--- Release by a code action, which names the place.
---@param argument table
---@param _buf integer
function M.release_on(argument, _buf)
  picker.provider(function(provider)
    picker.worded(argument.text, PROMPT, function(text)
      release(Chat.fresh(), text, provider, { uri = argument.uri, range = argument.range })
    end)
  end)
end

--- Tell who can be asked, and what is left of the budget.
function M.status()
  picker.ask("ollm/kraken/status", {}, function(result)
    require("ollm.report").show(require("ollm.overview").status(result), "kraken")
  end)
end

--- Tell what it was used for.
function M.history()
  picker.ask("ollm/kraken/history", { limit = 50 }, function(result)
    require("ollm.report").show(require("ollm.overview").history(result), "releases")
  end)
end

return M
