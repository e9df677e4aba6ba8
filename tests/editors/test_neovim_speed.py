"""A very long answer does not keep its reader from working."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.editors.neovim import neovim
from tests.editors.scene import NAME, TEXT, user_of
from tests.support.fake_ollama import FakeOllama, Model, words

if TYPE_CHECKING:
    from pathlib import Path

TOKENS = 20_000
PARAGRAPH = "\n\n## A heading\n\n*Words* about `code`, and a list:\n\n- one\n- two\n\n```python\nx = 1\n```\n"
ANSWER = " ".join(PARAGRAPH if number % 100 == 99 else f"word{number}" for number in range(TOKENS))
# Around everything of ours that runs while an answer comes: how long it takes, and how much of that it computes.
WATCH = """
_G.longest = { wall = 0, cpu = 0, beat = 0, calls = 0 }
local function watch(module, name)
  local fn = module[name]
  module[name] = function(...)
    local wall, cpu = vim.uv.hrtime(), os.clock()
    local result = { fn(...) }
    _G.longest.wall = math.max(_G.longest.wall, (vim.uv.hrtime() - wall) / 1e6)
    _G.longest.cpu = math.max(_G.longest.cpu, (os.clock() - cpu) * 1e3)
    _G.longest.calls = _G.longest.calls + 1
    return unpack(result)
  end
end
watch(require("ollm.incoming").handlers, "$/progress")
watch(require("ollm.chat.stream"), "flush")
watch(require("ollm.chat.folds"), "level")
watch(require("ollm.status"), "take")
for _, name in ipairs({ "draw", "tell", "ask" }) do
  watch(require("ollm.chat.transcript"), name)
end
local last = vim.uv.hrtime()
assert(vim.uv.new_timer()):start(10, 10, function()
  _G.longest.beat = math.max(_G.longest.beat, (vim.uv.hrtime() - last) / 1e6 - 10)
  last = vim.uv.hrtime()
end)
"""


async def test_twenty_thousand_tokens_never_block_the_editor_for_50_ms(
    neovim_program: Path, tmux: Path, tmp_path: Path
) -> None:
    model = Model("smollm2:135m", context_length=200_000)
    async with FakeOllama([model], answer=lambda _: words(ANSWER)) as fake:
        # The watch comes first, because the server's handlers are taken when it is enabled.
        user = user_of(tmp_path, fake)
        async with neovim(neovim_program, tmux, user, NAME, before=WATCH) as editor:
            await editor.ready()
            await editor.command("Ollm chat Tell me everything.")
            await editor.keys("<C-w>hGo")
            typed = ""
            while await editor.lua("return require('ollm.chat').current().is_busy"):
                typed += "x"
                await editor.keys("x")
            assert ANSWER in await editor.answered()
            assert await editor.text(1) == f"{TEXT}{typed}\n"
            longest = await editor.lua("return _G.longest")
            sys.stdout.write(f"\n{TOKENS} tokens, {len(typed)} letters typed meanwhile: {longest}\n")
            assert longest["calls"] > 100
            # What it computes, not what it takes: other programs may have the processor meanwhile.
            assert longest["cpu"] < 50
