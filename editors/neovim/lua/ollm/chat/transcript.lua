--- The buffer of a chat: headings that are known by their marks, and answers that grow below them.
local History = require("ollm.chat.history")
local Step = require("ollm.chat.step")
local render = require("ollm.render")

local api = vim.api
local ns = api.nvim_create_namespace("ollm.chat")
local inner = api.nvim_create_namespace("ollm.chat.parts")

local HEADINGS = { you = "## You", assistant = "## Assistant" }

---@class ollm.Head
---@field speaker "you"|"assistant"
---@field response? string The id of a response that the server knows.
---@field place? ollm.Place What it was sent with.
---@field start? ollm.Start How it is sent, if not as a message.
---@field told? string What stands behind it.

---@class ollm.Drawn
---@field part ollm.Part
---@field bytes integer
---@field mark integer
---@field rows integer

---@class ollm.Answer
---@field mark integer Of its heading.
---@field tail integer The mark where it grows.
---@field drawn ollm.Drawn[]
---@field is_undone? boolean By the user, before it was whole.

---@class ollm.Message
---@field head ollm.Head
---@field mark integer
---@field row integer Of its heading, from 0.
---@field last integer The row behind it.
---@field text string

---@class ollm.Transcript
---@field buf integer
---@field heads table<integer, ollm.Head>
---@field step ollm.Step
---@field history ollm.History
local Transcript = {}
Transcript.__index = Transcript

---@param buf integer
---@return ollm.Transcript
function Transcript.new(buf)
  return setmetatable({ buf = buf, heads = {}, step = Step.new(buf), history = History.new(buf) }, Transcript)
end

--- The messages from the first to the last.
---@return ollm.Message[]
function Transcript:messages()
  self:revive()
  local messages = {} ---@type ollm.Message[]
  for _, one in ipairs(api.nvim_buf_get_extmarks(self.buf, ns, 0, -1, { details = true })) do
    local mark, row, _, details = unpack(one)
    if self.heads[mark] and not (details and details.invalid) then
      if messages[#messages] then
        messages[#messages].last = row
      end
      local last = api.nvim_buf_line_count(self.buf)
      table.insert(messages, { head = self.heads[mark], mark = mark, row = row, last = last, text = "" })
    end
  end
  for _, message in ipairs(messages) do
    local lines = api.nvim_buf_get_lines(self.buf, message.row + 1, message.last, false)
    message.text = vim.trim(table.concat(lines, "\n"))
  end
  return messages
end

--- The windows whose cursor is at the end, and which stay there.
---@return integer[]
function Transcript:_following()
  local last = api.nvim_buf_line_count(self.buf)
  return vim.tbl_filter(function(win)
    return api.nvim_win_get_cursor(win)[1] >= last
  end, vim.fn.win_findbuf(self.buf))
end

---@param windows integer[]
function Transcript:_follow(windows)
  local last = api.nvim_buf_line_count(self.buf)
  local line = api.nvim_buf_get_lines(self.buf, last - 1, last, false)[1] or ""
  for _, win in ipairs(windows) do
    if api.nvim_win_is_valid(win) then
      api.nvim_win_set_cursor(win, { last, #line })
    end
  end
end

--- What is told below a heading because it is too long to stand behind it.
---@param heading string
---@param told string
---@return table[]? lines
function Transcript:_below(heading, told)
  local width = math.huge
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    width = math.min(width, api.nvim_win_get_width(win))
  end
  if vim.fn.strdisplaywidth(heading .. "  " .. told) <= width then
    return nil
  end
  local lines, line = {}, ""
  for _, word in ipairs(vim.split(told, " · ", { plain = true })) do
    local longer = line == "" and word or line .. " · " .. word
    if line ~= "" and vim.fn.strdisplaywidth(longer) > width then
      table.insert(lines, { { line, "OllmInfo" } })
      longer = word
    end
    line = longer
  end
  return vim.list_extend(lines, { { { line, "OllmInfo" } } })
end

---@param row integer
---@param head ollm.Head
---@param mark? integer
---@return integer mark
function Transcript:_head(row, head, mark)
  local heading, told = HEADINGS[head.speaker], head.told or ""
  local below = self:_below(heading, told)
  return api.nvim_buf_set_extmark(self.buf, ns, row, 0, {
    id = mark,
    end_row = row,
    end_col = #heading,
    -- The user may have made the heading shorter.
    strict = false,
    invalidate = true,
    undo_restore = true,
    hl_group = "OllmHead",
    virt_text = not below and told ~= "" and { { " " .. told, "OllmInfo" } } or nil,
    virt_lines = below,
  })
end

--- Add a message at the end.
---@param head ollm.Head
---@param text string
---@return integer mark
function Transcript:_add(head, text)
  local lines = { HEADINGS[head.speaker], "" }
  vim.list_extend(lines, vim.split(text, "\n", { plain = true }))
  local count = api.nvim_buf_line_count(self.buf)
  local last = api.nvim_buf_get_lines(self.buf, count - 1, count, false)[1]
  local row ---@type integer
  if count == 1 and last == "" then
    row = 0
    api.nvim_buf_set_lines(self.buf, 0, 1, false, lines)
  else
    if last ~= "" then
      table.insert(lines, 1, "")
    end
    row = last ~= "" and count + 1 or count
    api.nvim_buf_set_lines(self.buf, count, count, false, lines)
  end
  local mark = self:_head(row, head)
  self.heads[mark] = head
  self:_keep()
  return mark
end

function Transcript:_keep()
  local rows = {} ---@type table<integer, integer>
  for mark in pairs(self.heads) do
    rows[mark] = self:_row(mark)
  end
  self.history:keep(rows)
end

--- Mark the headings again that a redo has brought back.
function Transcript:revive()
  for mark, row in pairs(self.history:rows()) do
    local line = api.nvim_buf_get_lines(self.buf, row, row + 1, false)[1]
    if not self:_row(mark) and line == HEADINGS[self.heads[mark].speaker] then
      self:_head(row, self.heads[mark], mark)
    end
  end
end

--- Add a question, or room for one.
---@param text string
---@param told? string
---@param head? ollm.Head
function Transcript:ask(text, told, head)
  local following = self:_following()
  self.step:take(function()
    self:tell(self:_add(head or { speaker = "you" }, text), told or "")
  end)
  self:_follow(following)
end

--- Begin an answer.
---@return ollm.Answer
function Transcript:answer()
  local following = self:_following()
  local mark ---@type integer
  self.step:take(function()
    mark = self:_add({ speaker = "assistant" }, "")
  end)
  local row = api.nvim_buf_line_count(self.buf) - 1
  local tail = api.nvim_buf_set_extmark(self.buf, inner, row, 0, {})
  self:_follow(following)
  return { mark = mark, tail = tail, drawn = {} }
end

--- Where a heading is, if it is still there.
---@param mark integer
---@return integer?
function Transcript:_row(mark)
  if not api.nvim_buf_is_loaded(self.buf) then
    return nil
  end
  local row, _, details = unpack(api.nvim_buf_get_extmark_by_id(self.buf, ns, mark, { details = true }))
  return details and not details.invalid and row or nil
end

--- Tell something behind a heading.
---@param mark integer
---@param told string
function Transcript:tell(mark, told)
  local row, head = self:_row(mark), self.heads[mark]
  head.told = told
  if row then
    self:_head(row, head, mark)
  end
end

---@param answer ollm.Answer
---@param text string
function Transcript:_append(answer, text)
  local row, col = unpack(api.nvim_buf_get_extmark_by_id(self.buf, inner, answer.tail, {}))
  api.nvim_buf_set_text(self.buf, row, col, row, col, vim.split(text, "\n", { plain = true }))
end

--- What keeps a part apart from the one before.
---@param before ollm.Part?
---@return string
local function gap(before)
  if not before then
    return ""
  end
  local text = before.type == "text" and before.text or ""
  return text:sub(-2) == "\n\n" and "" or text:sub(-1) == "\n" and "\n" or "\n\n"
end

---@param answer ollm.Answer
---@param index integer
---@param part ollm.Part
---@param before ollm.Part?
function Transcript:_draw_new(answer, index, part, before)
  self:_append(answer, gap(before))
  local row, col = unpack(api.nvim_buf_get_extmark_by_id(self.buf, inner, answer.tail, {}))
  local mark = api.nvim_buf_set_extmark(self.buf, inner, row, col, { right_gravity = false })
  local text = render.part(part)
  self:_append(answer, text)
  local _, newlines = text:gsub("\n", "")
  answer.drawn[index] = { part = part, bytes = #(part.text or ""), mark = mark, rows = newlines + 1 }
end

---@param drawn ollm.Drawn
---@param part ollm.Part
function Transcript:_draw_again(drawn, part)
  local row = api.nvim_buf_get_extmark_by_id(self.buf, inner, drawn.mark, {})[1]
  local lines = vim.split(render.part(part), "\n", { plain = true })
  local old = api.nvim_buf_get_lines(self.buf, row, row + drawn.rows, false)
  local last = old[#old] or ""
  api.nvim_buf_set_text(self.buf, row, 0, row + #old - 1, #last, lines)
  drawn.part, drawn.rows = part, #lines
end

--- Whether the user has undone an answer that still grows.
---@param answer ollm.Answer
---@return boolean
function Transcript:is_undone(answer)
  if not answer.is_undone and self.step:is_disturbed() and not self:_row(answer.mark) then
    local tree = vim.fn.undotree(self.buf)
    answer.is_undone = tree.seq_cur < tree.seq_last
  end
  return answer.is_undone or false
end

---@param answer ollm.Answer
---@param parts ollm.Part[]
function Transcript:_draw(answer, parts)
  for index, part in ipairs(parts) do
    local drawn = answer.drawn[index]
    if not drawn then
      self:_draw_new(answer, index, part, parts[index - 1])
    elseif drawn.part ~= part then
      if part.type == "tool" then
        self:_draw_again(drawn, part)
      elseif #(part.text or "") > drawn.bytes then
        local more = (part.text or ""):sub(drawn.bytes + 1)
        self:_append(answer, part.type == "reasoning" and render.quoted(more) or more)
        drawn.part, drawn.bytes = part, drawn.bytes + #more
      end
    end
  end
end

--- Draw what has become different since an answer was drawn last.
---@param answer ollm.Answer
---@param state ollm.Response
function Transcript:draw(answer, state)
  if not api.nvim_buf_is_loaded(self.buf) or self:is_undone(answer) then
    return
  end
  local following = self:_following()
  self.step:take(function()
    self:_draw(answer, state.parts)
  end)
  self:_follow(following)
end

--- Remove everything from a row on.
---@param row integer
function Transcript:cut(row)
  self.step:take(function()
    api.nvim_buf_set_lines(self.buf, row, -1, false, {})
  end)
end

return Transcript
