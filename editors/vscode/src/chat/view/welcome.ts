/** What is shown before the first question. */
import { h } from "./dom";
import { icon } from "./icons";

const STARTERS = [
  ["/explain", "Explain this code"],
  ["/fix", "Find and fix a problem"],
  ["/tests", "Write tests"],
] as const;

/** `start` gets what a click asks for. */
export function welcome(start: (text: string) => void): HTMLElement {
  const starters = STARTERS.map(([order, label]) => {
    const button = h(
      "button",
      { class: "starter", type: "button" },
      h("span", { text: label }),
      h("code", { text: order }),
    );
    button.addEventListener("click", () => {
      start(order);
    });
    return button;
  });
  return h(
    "section",
    { class: "welcome", "aria-label": "Welcome" },
    icon("kraken"),
    h("h2", { text: "Ask your own model" }),
    h("p", {
      text: "Your open documents go along. Nothing leaves this machine unless you chose an external model or release the Kraken.",
    }),
    h("div", { class: "starters" }, ...starters),
    h(
      "p",
      { class: "hint" },
      h("kbd", { text: "/" }),
      " orders  ",
      h("kbd", { text: "#" }),
      " mentions  ",
      h("kbd", { text: "↑" }),
      " edits the last question",
    ),
  );
}
