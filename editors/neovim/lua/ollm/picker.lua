--- Choices, by whatever the user has for `vim.ui.select`.
local Chat = require("ollm.chat")
local client = require("ollm.client")

local M = {}

---@param method string
---@param params table
---@param fn fun(result: any)
local function ask(method, params, fn)
  client.with(vim.api.nvim_get_current_buf(), function(lsp)
    params = next(params) and params or vim.empty_dict()
    client.request(lsp, method, params, {
      done = function(err, result)
        if err then
          client.notify(client.failure(err), vim.log.levels.ERROR)
        else
          fn(result)
        end
      end,
    })
  end)
end

---@param prompt string
---@param items any[]
---@param words fun(item: any): string
---@param fn fun(item: any)
local function choose(prompt, items, words, fn)
  if #items == 0 then
    client.notify(prompt .. ": there are none.")
    return
  end
  vim.ui.select(items, { prompt = prompt, format_item = words, kind = "ollm" }, function(item)
    if item then
      fn(item)
    end
  end)
end

--- Words of the user: those that were given, else they are asked for.
---@param given string?
---@param prompt string
---@param fn fun(words: string)
function M.worded(given, prompt, fn)
  if given and given ~= "" then
    fn(given)
    return
  end
  vim.ui.input({ prompt = prompt }, function(words)
    if words and vim.trim(words) ~= "" then
      fn(words)
    end
  end)
end

---@param conversation table
---@return string
local function titled(conversation)
  local day = conversation.updated:sub(1, 16):gsub("T", " ")
  return ("%s  %s"):format(day, conversation.title)
end

---@param prompt string
---@param fn fun(conversation: table)
local function conversations(prompt, fn)
  ask("ollm/chat/list", {}, function(result)
    choose(prompt, result.conversations, titled, fn)
  end)
end

--- Go on with a conversation: in its chat where it is open, else with what was kept.
function M.conversation()
  conversations("Conversation", function(one)
    local open = Chat.with(one.id)
    if open then
      open:show()
      return
    end
    ask("ollm/chat/get", { conversationId = one.id }, function(kept)
      Chat.kept(kept):show()
    end)
  end)
end

--- Give a conversation another title.
---@param title string
function M.rename(title)
  local chat = Chat.current()
  local function rename(id)
    M.worded(title, "Title: ", function(words)
      ask("ollm/chat/rename", { conversationId = id, title = words }, function()
        client.notify("the conversation is called " .. words)
      end)
    end)
  end
  if chat and chat.conversation then
    rename(chat.conversation)
  else
    conversations("Rename", function(one)
      rename(one.id)
    end)
  end
end

--- Delete a conversation.
function M.delete()
  conversations("Delete", function(one)
    choose(("Delete “%s”?"):format(one.title), { "Keep it", "Delete it" }, tostring, function(answer)
      if answer == "Delete it" then
        ask("ollm/chat/delete", { conversationId = one.id }, function()
          client.notify("the conversation is deleted.")
        end)
      end
    end)
  end)
end

---@param model table
---@return string
local function described(model)
  local facts = { model.id }
  if model.contextWindow then
    table.insert(facts, ("%dk"):format(model.contextWindow / 1000))
  end
  for _, name in ipairs({ "tools", "vision", "reasoning" }) do
    if model.capabilities[name] then
      table.insert(facts, name)
    end
  end
  if model.default then
    table.insert(facts, "default")
  end
  return table.concat(facts, " · ")
end

--- Choose the model of the current chat.
function M.model()
  local chat = Chat.current()
  ask("ollm/models/list", {}, function(result)
    for _, failed in ipairs(result.errors) do
      client.notify(("%s: %s %s"):format(failed.provider, failed.message, failed.remedy), vim.log.levels.WARN)
    end
    choose("Model", result.models, described, function(model)
      chat = chat or Chat.fresh()
      chat:use(model.id)
      chat:show()
    end)
  end)
end

--- Fetch a model; its percentage is shown as progress.
---@param given string
function M.pull(given)
  M.worded(given, "Model: ", function(model)
    client.with(vim.api.nvim_get_current_buf(), function(lsp)
      client.request(lsp, "ollm/models/pull", { model = model }, {
        done = function(err)
          client.notify(err and client.failure(err) or model .. " is here.", err and vim.log.levels.ERROR or nil)
        end,
      })
    end)
  end)
end

--- Choose an external provider; the only one that there is needs no choice.
---@param fn fun(provider: string)
function M.provider(fn)
  ask("ollm/kraken/status", {}, function(result)
    local ready = vim.tbl_filter(function(one)
      return one.available
    end, result.providers)
    if #ready == 1 then
      fn(ready[1].name)
      return
    end
    if #ready == 0 then
      local words = vim.tbl_map(function(one)
        return ("%s: %s %s"):format(one.name, one.error or "", one.remedy or "")
      end, result.providers)
      table.insert(words, 1, "no external provider can be used. :Ollm kraken config opens your settings.")
      client.notify(table.concat(words, "\n"), vim.log.levels.WARN)
      return
    end
    choose("Release the Kraken", ready, function(one)
      return ("%s · %s · %s"):format(one.name, one.model, one.type)
    end, function(one)
      fn(one.name)
    end)
  end)
end

M.ask = ask

return M
