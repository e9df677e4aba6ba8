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
  chat:run(text, function(lsp, request)
    local params = { text = text, provider = provider, context = context, conversationId = chat.conversation }
    return client.request(lsp, "ollm/kraken/release", params, request)
  end)
end

local PROMPT = "Release the Kraken: "

--- Release: pick a provider, then ask it in the current chat.
---@param text? string
---@param place? ollm.Place
---@param provider? string
function M.release(text, place, provider)
  local chat = Chat.current()
  local function go(name)
    picker.worded(text, PROMPT, function(words)
      client.with(place and place.buf or vim.api.nvim_get_current_buf(), function(lsp)
        local context = place and places.params(place, lsp.offset_encoding) or nil
        release(chat and not chat.is_busy and chat or Chat.fresh(), words, name, context)
      end)
    end)
  end
  if provider then
    go(provider)
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
