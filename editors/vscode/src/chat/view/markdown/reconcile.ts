/** Make elements like new ones, and leave alone what is like them already: a selection and the scroll position survive. */

/** Let the nodes from `first` on, up to the end of the parent, be like the new ones. */
export function reconcile(parent: Node, first: number, wanted: readonly Node[]): void {
  wanted.forEach((node, index) => {
    const there = parent.childNodes[first + index];
    if (!there) parent.appendChild(node);
    else if (!there.isEqualNode(node)) becomeLike(there, node);
  });
  while (parent.childNodes.length > first + wanted.length) parent.lastChild?.remove();
}

function becomeLike(there: ChildNode, wanted: Node): void {
  if (there instanceof Text && wanted instanceof Text) there.data = wanted.data;
  else if (there instanceof Element && wanted instanceof Element && isSameKind(there, wanted))
    reconcile(there, 0, [...wanted.childNodes]);
  else there.replaceWith(wanted);
}

function isSameKind(there: Element, wanted: Element): boolean {
  return there.cloneNode(false).isEqualNode(wanted.cloneNode(false));
}
