/** What goes along with the next question: the place in the active document, attached files and pasted pictures. */
import type { ImageContent } from "../../protocol";
import type { FromView, Surroundings } from "../messages";
import { h, renew } from "./dom";
import { icon, type IconName } from "./icons";

type Along = Pick<Surroundings, "place" | "isPlaceSent" | "isPinned" | "files">;

export class Chips {
  readonly element = h("div", { class: "chips", role: "group", "aria-label": "Sent along with the question" });
  private along: Along = { place: null, isPlaceSent: true, isPinned: false, files: [] };
  private pictures: readonly ImageContent[] = [];

  /** `leave` gets the focus when the chip that had it has gone. */
  constructor(
    private readonly post: (message: FromView) => void,
    private readonly leave: () => void,
  ) {}

  get images(): readonly ImageContent[] {
    return this.pictures;
  }

  show({ place, isPlaceSent, isPinned, files }: Along): void {
    const along = { place, isPlaceSent, isPinned, files };
    // Every move of the cursor tells it anew.
    if (JSON.stringify(along) === JSON.stringify(this.along)) return;
    this.along = along;
    this.render();
  }

  /** Take the pictures of a paste or a drop; whether there were any. */
  take(data: DataTransfer | null): boolean {
    const files = [...(data?.files ?? [])].filter((file) => /^image\/(png|jpeg|gif|webp)$/.test(file.type));
    for (const file of files) void this.read(file);
    return files.length > 0;
  }

  clearImages(): void {
    this.pictures = [];
    this.render();
  }

  private async read(file: File): Promise<void> {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const data = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    this.pictures = [...this.pictures, { mimeType: file.type, data }];
    this.render();
  }

  private render(): void {
    const { place, isPlaceSent, isPinned, files } = this.along;
    const chips: HTMLElement[] = [];
    if (place) {
      const name = place.lines ? `${place.name}:${place.lines}` : place.name;
      const act = isPinned
        ? chipButton("selection", "close", `Do not send ${name}`, () => {
            this.post({ type: "detachSelection" });
          })
        : chipButton(
            "place",
            isPlaceSent ? "eye" : "eyeClosed",
            isPlaceSent ? `Do not send ${name}` : `Send ${name}`,
            () => {
              this.post({ type: "sendPlace", isSent: !isPlaceSent });
            },
          );
      chips.push(chip(name, isPlaceSent ? "" : "off", isPinned ? "Attached selection" : "Active document", act));
    }
    for (const { uri, name } of files)
      chips.push(
        chip(
          name,
          "",
          "Attached file",
          chipButton(uri, "close", `Detach ${name}`, () => {
            this.post({ type: "detach", uri });
          }),
        ),
      );
    this.pictures.forEach((picture, index) => {
      const remove = chipButton("picture", "close", `Detach picture ${index + 1}`, () => {
        this.pictures = this.pictures.filter((other) => other !== picture);
        this.render();
      });
      chips.push(chip(`Picture ${index + 1}`, "", "Attached picture", remove));
    });
    this.element.hidden = chips.length === 0;
    renew(this.element, chips, this.leave);
  }
}

function chip(name: string, state: string, title: string, button: HTMLElement): HTMLElement {
  return h(
    "span",
    { class: `chip ${state}`.trim(), title },
    icon("file"),
    h("span", { class: "chip-name", text: name }),
    button,
  );
}

function chipButton(action: string, name: IconName, label: string, onClick: () => void): HTMLElement {
  const props = { class: "chip-button", type: "button", title: label, "aria-label": label, "data-action": action };
  return h("button", { ...props, on: { click: onClick } }, icon(name));
}
