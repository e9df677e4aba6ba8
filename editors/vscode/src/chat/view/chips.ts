/** What goes along with the next question: the place in the active document, attached files and pasted pictures. */
import type { ImageContent } from "../../protocol";
import type { FromView, Surroundings } from "../messages";
import { h, renew } from "./dom";
import { icon, type IconName } from "./icons";

interface Picture {
  readonly mimeType: string;
  /** Nothing until it is read. */
  data: string | null;
}

type Along = Pick<Surroundings, "place" | "isPlaceSent" | "isPinned" | "files">;

export class Chips {
  readonly element = h("div", { class: "chips", role: "group", "aria-label": "Sent along with the question" });
  private along: Along = { place: null, isPlaceSent: true, isPinned: false, files: [] };
  private pictures: readonly Picture[] = [];
  private reading: Promise<unknown> = Promise.resolve();

  /** `leave` gets the focus when the chip that had it has gone, `fail` the name of a picture that cannot be read. */
  constructor(
    private readonly post: (message: FromView) => void,
    private readonly leave: () => void,
    private readonly fail: (name: string) => void,
  ) {}

  /** Those that are read. */
  get images(): readonly ImageContent[] {
    return this.pictures.flatMap(({ mimeType, data }) => (data === null ? [] : [{ mimeType, data }]));
  }

  get isReading(): boolean {
    return this.pictures.some(({ data }) => data === null);
  }

  /** When all that was taken until now is read, or cannot be. */
  get whenRead(): Promise<unknown> {
    return this.reading;
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
    this.reading = Promise.all([this.reading, ...files.map((file) => this.read(file))]);
    return files.length > 0;
  }

  clearImages(): void {
    this.pictures = [];
    this.render();
  }

  private async read(file: File): Promise<void> {
    const picture: Picture = { mimeType: file.type, data: null };
    this.pictures = [...this.pictures, picture];
    this.render();
    try {
      picture.data = await base64(file);
    } catch {
      if (!this.pictures.includes(picture)) return;
      this.detach(picture);
      this.fail(file.name);
    }
  }

  private detach(picture: Picture): void {
    this.pictures = this.pictures.filter((other) => other !== picture);
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
        this.detach(picture);
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

/** The browser encodes it, beside what runs here. */
function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      const url = reader.result as string;
      resolve(url.slice(url.indexOf(",") + 1));
    });
    reader.addEventListener("error", () => {
      reject(new Error(reader.error?.message));
    });
    reader.readAsDataURL(file);
  });
}
