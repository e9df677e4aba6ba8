--- What a release sends, in a buffer where it can be changed: `:w` takes it, leaving the buffer does not.
local api = vim.api
local M = {}

---@param question ollm.Question
function M.edit(question)
  local buf = api.nvim_create_buf(false, false)
  api.nvim_buf_set_name(buf, ("ollm-briefing:///%s.md"):format(question.params.id))
  vim.bo[buf].buftype = "acwrite"
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].swapfile = false
  vim.bo[buf].filetype = "markdown"
  local text = question.briefing or question.params.briefing
  api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, "\n", { plain = true }))
  vim.bo[buf].modified = false
  api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buf,
    callback = function()
      question.briefing = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
      vim.bo[buf].modified = false
      vim.schedule(function()
        if api.nvim_buf_is_valid(buf) then
          api.nvim_buf_delete(buf, { force = true })
        end
      end)
    end,
  })
  api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    callback = function()
      vim.schedule(function()
        if require("ollm.permission").is_asking(question) then
          require("ollm.permission").show()
        end
      end)
    end,
  })
  vim.cmd("botright sbuffer " .. buf)
end

return M
