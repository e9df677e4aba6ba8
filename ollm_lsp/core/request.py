"""What a provider is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import InvalidMessage, Unsupported
from ollm_lsp.core.tokens import count_images
from ollm_lsp.core.tool import OneTool, ToolChoice

if TYPE_CHECKING:
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.model import Capabilities
    from ollm_lsp.core.tool import ToolSpec


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request for one model response; `model` is the name without its provider."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    tool_choice: ToolChoice | OneTool = ToolChoice.AUTO

    def __post_init__(self) -> None:
        if not self.model or not self.messages:
            raise InvalidMessage("A request needs a model and at least one message.")
        names = {tool.name for tool in self.tools}
        if len(names) != len(self.tools):
            raise InvalidMessage("Two tools have the same name.")
        if self.tool_choice is ToolChoice.REQUIRED and not names:
            raise InvalidMessage("A tool is required, but there is none.")
        if isinstance(self.tool_choice, OneTool) and self.tool_choice.name not in names:
            raise InvalidMessage(f"The tool '{self.tool_choice.name}' is required, but it is not there.")

    def check(self, capabilities: Capabilities) -> None:
        """Refuse what the model cannot do, before anything is sent."""
        if not capabilities.vision and count_images(self.messages):
            raise Unsupported(
                f"The model '{self.model}' cannot see images.",
                remedy="Leave the image out, or choose a model with vision.",
            )
        if self.tools and not capabilities.tools:
            raise Unsupported(f"The model '{self.model}' cannot call tools.", remedy="Choose a model with tools.")
