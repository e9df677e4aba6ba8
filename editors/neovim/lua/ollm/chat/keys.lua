--- The keys of a chat.
local options = require("ollm.options")

local M = {}

---@param chat ollm.Chat
function M.set(chat)
  local keys = options.current.chat_keys
  local function map(mode, key, what, fn)
    if key and key ~= "" then
      vim.keymap.set(mode, key, fn, { buffer = chat.buf, desc = "ollm: " .. what, nowait = true })
    end
  end
  local function send()
    chat:send()
  end
  map("n", keys.send, "send", send)
  map("i", keys.send_insert, "send", function()
    vim.cmd.stopinsert()
    send()
  end)
  map("n", keys.stop, "stop", function()
    chat:stop()
  end)
  map("n", keys.retry, "ask again", function()
    chat:retry()
  end)
  map("n", keys.model, "choose a model", function()
    require("ollm.picker").model()
  end)
  map("n", keys.conversations, "choose a conversation", function()
    require("ollm.picker").conversation()
  end)
  map("n", keys.close, "close", function()
    chat:hide()
  end)
end

return M
