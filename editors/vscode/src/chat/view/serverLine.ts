/** A line that says why nobody can answer now, and what to do. */
import { unreachable } from "../../protocol";
import type { ServerState } from "../../server";
import type { FromView } from "../messages";
import { h } from "./dom";

type Action = Extract<FromView, { type: "server" }>["action"];

export class ServerLine {
  readonly element = h("div", { class: "server-line", role: "status", hidden: true });

  private state: ServerState = "running";

  constructor(private readonly post: (message: FromView) => void) {}

  show(state: ServerState): void {
    // It would be read aloud again.
    if (state === this.state) return;
    this.state = state;
    const said = words(state);
    this.element.hidden = said === null;
    if (!said) return;
    const [text, label, action] = said;
    this.element.replaceChildren(h("span", { text }), ...(label && action ? [this.button(label, action)] : []));
  }

  private button(label: string, action: Action): HTMLElement {
    const onClick = (): void => {
      this.post({ type: "server", action });
    };
    return h("button", { class: "review", type: "button", text: label, on: { click: onClick } });
  }
}

function words(state: ServerState): readonly [text: string, label?: string, action?: Action] | null {
  switch (state) {
    case "running":
      return null;
    case "starting":
      return ["Starting ollm-lsp…"];
    case "missing":
      return ["ollm-lsp was not found.", "Install", "install"];
    case "stopped":
      return ["ollm-lsp does not run.", "Start", "restart"];
    case "failed":
      return ["ollm-lsp ended again and again.", "Start again", "restart"];
    default:
      return unreachable(state);
  }
}
