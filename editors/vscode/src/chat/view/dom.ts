/** Elements made in code. No text ever becomes HTML here: that is what makes the view safe. */

type Child = Node | string | null | false;
type Value = string | number | boolean | null | undefined;
type Listeners = Readonly<Record<string, (event: never) => void>>;

interface Props {
  readonly on?: Listeners;
  readonly [attribute: string]: Value | Listeners;
}

/** A new element. `text` is its text, `on` who listens to it, and everything else an attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "object" && value !== null) listen(element, value);
    else if (name === "text") element.textContent = String(value);
    else setAttribute(element, name, value);
  }
  for (const child of children) if (child !== null && child !== false) element.append(child);
  return element;
}

/** Set one attribute. True sets it empty; false, null and undefined remove it. */
export function setAttribute(element: Element, name: string, value: Value): void {
  if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/** Let an element have just these children, and touch none that is in its place already. */
export function setChildren(parent: Element, children: readonly Node[]): void {
  children.forEach((child, index) => {
    const there = parent.childNodes[index];
    if (there !== child) parent.insertBefore(child, there ?? null);
  });
  while (parent.childNodes.length > children.length) parent.lastChild?.remove();
}

/**
 * Replace all children, and leave the focus with the one that does the same as the one that had it: which has the same
 * `data-action`. Where there is none any more, `otherwise` says where the focus goes.
 */
export function renew(parent: Element, children: readonly Node[], otherwise?: () => void): void {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const name = focused?.getAttribute("data-action") ?? "";
  parent.replaceChildren(...children);
  if (!focused) return;
  const same = [...parent.querySelectorAll<HTMLElement>("[data-action]")].filter(
    (one) => one.dataset["action"] === name,
  );
  const next = same.find((one) => one.ariaLabel === focused.ariaLabel) ?? same[0];
  if (next) next.focus();
  else otherwise?.();
}

function listen(element: Element, listeners: Listeners): void {
  for (const [name, listener] of Object.entries(listeners)) element.addEventListener(name, listener as EventListener);
}
