/** How full the model's context is, as a ring. */
import type { ContextFill } from "../conversation";
import { h } from "./dom";
import { count } from "./words";

const ROUND = 2 * Math.PI * 6;

export class Meter {
  private readonly ring = circle("meter-fill");
  private readonly share = h("span");
  readonly element = h("button", { class: "meter quiet-button", type: "button", hidden: true });

  constructor(onClick: () => void) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 16 16");
    svg.setAttribute("aria-hidden", "true");
    svg.append(circle("meter-track"), this.ring);
    this.element.append(svg, this.share);
    this.element.addEventListener("click", onClick);
  }

  show(context: ContextFill | null): void {
    this.element.hidden = !context || context.limit <= 0;
    if (!context || context.limit <= 0) return;
    const share = Math.min(context.tokens / context.limit, 1);
    const percent = `${Math.round(share * 100)}%`;
    const label = `Context: ${count(context.tokens)} of ${count(context.limit)} tokens. Show what is sent`;
    this.ring.setAttribute("stroke-dasharray", `${(ROUND * share).toFixed(2)} ${ROUND.toFixed(2)}`);
    this.share.textContent = percent;
    this.element.title = label;
    this.element.setAttribute("aria-label", `${percent}. ${label}`);
    this.element.dataset["level"] = share >= 0.9 ? "high" : share >= 0.6 ? "middle" : "low";
  }
}

function circle(name: string): SVGCircleElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  for (const [key, value] of [
    ["class", name],
    ["cx", "8"],
    ["cy", "8"],
    ["r", "6"],
  ] as const)
    element.setAttribute(key, value);
  return element;
}
