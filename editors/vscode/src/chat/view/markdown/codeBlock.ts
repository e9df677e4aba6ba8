/** A block of code with what can be done with it. Clicks are heard by the transcript, so that blocks are plain elements. */
import { fileOf, languageOf } from "../../fence";
import type { CodeAction } from "../../messages";
import { h } from "../dom";
import { icon, type IconName } from "../icons";

const ACTIONS: readonly (readonly [CodeAction, IconName, string])[] = [
  ["apply", "edit", "Apply to the document"],
  ["insert", "insert", "Insert at the cursor"],
  ["copy", "copy", "Copy"],
];

/** The element for a text, and for what stands behind the fence: a language, perhaps a file. */
export function codeBlock(text: string, info: string): HTMLElement {
  const language = languageOf(info);
  return h(
    "div",
    { class: "code-block", role: "group", "aria-label": language ? `Code, ${language}` : "Code" },
    h(
      "div",
      { class: "code-head" },
      h("span", { class: "code-language", text: fileOf(info) || language || "text" }),
      ...buttons(),
    ),
    h("pre", { tabindex: 0 }, h("code", { "data-info": info, "data-language": language, text })),
  );
}

/** The code that a click on a button is about, where it is on one. */
export function codeAt(button: Element): { action: CodeAction; code: string; info: string } | null {
  const action = ACTIONS.find(([name]) => name === button.getAttribute("data-code"))?.[0];
  const code = button.closest(".code-block")?.querySelector("code");
  return action && code ? { action, code: code.textContent, info: code.getAttribute("data-info") ?? "" } : null;
}

function buttons(): readonly HTMLElement[] {
  return ACTIONS.map(([action, name, label]) => {
    const main = action === "apply";
    const shape = main ? "quiet-button code-apply" : "icon-button";
    return h(
      "button",
      { class: shape, type: "button", "data-code": action, title: label, "aria-label": label },
      icon(name),
      main && "Apply",
    );
  });
}
