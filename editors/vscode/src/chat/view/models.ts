/** The models to choose from. */
import type { Model, ModelsList } from "../../protocol";
import type { FromView } from "../messages";
import { h } from "./dom";
import { icon } from "./icons";
import { matches, Picker } from "./picker";
import { bytes, shortCount } from "./words";

export class Models {
  private readonly picker: Picker;
  private known: ModelsList | null = null;
  private words = "";

  constructor(
    private readonly post: (message: FromView) => void,
    private readonly current: () => string,
    onClose: () => void,
  ) {
    const onSearch = (words: string): void => {
      this.words = words;
      this.render();
    };
    this.picker = new Picker("Models", { onSearch, onClose });
  }

  get element(): HTMLElement {
    return this.picker.element;
  }

  open(): void {
    this.post({ type: "listModels" });
    this.picker.open();
  }

  show(known: ModelsList): void {
    this.known = known;
    this.render();
  }

  private render(): void {
    const found = this.known?.models.filter(({ id }) => matches(id, this.words)) ?? [];
    const rows = [...found.map((model) => this.row(model)), ...(this.known?.errors ?? []).map(failure)];
    this.picker.show(
      rows,
      this.known === null ? "Loading…" : this.words ? "No model has these words." : "There are no models yet.",
    );
  }

  private row(model: Model): HTMLElement {
    const isCurrent = model.id === this.current();
    const main = h(
      "button",
      { class: "row-main", type: "button", "aria-current": isCurrent ? "true" : null },
      h("span", { class: "row-title" }, model.name, isCurrent && icon("check")),
      h("span", { class: "row-facts", text: facts(model) }),
    );
    main.addEventListener("click", () => {
      this.post({ type: "model", model: model.id });
      this.picker.close();
    });
    return h("div", { class: "row", role: "listitem" }, main);
  }
}

function facts(model: Model): string {
  const { capabilities, contextWindow, sizeBytes } = model;
  return [
    model.provider,
    contextWindow !== undefined && `${shortCount(contextWindow)} context`,
    sizeBytes !== undefined && bytes(sizeBytes),
    capabilities.tools && "tools",
    capabilities.vision && "vision",
    capabilities.reasoning && "reasoning",
    model.default && "default",
  ]
    .filter(Boolean)
    .join(" · ");
}

function failure({ provider, message, remedy }: ModelsList["errors"][number]): HTMLElement {
  return h(
    "div",
    { class: "note warning", role: "listitem" },
    icon("warning"),
    h("div", {}, h("p", { text: `${provider}: ${message}` }), h("p", { class: "remedy", text: remedy })),
  );
}
