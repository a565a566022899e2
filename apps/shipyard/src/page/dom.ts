type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * An element with its children. Text becomes text nodes and nothing else: no markup is ever read here, since most of what is shown
 * was written by code in a sandbox. False and undefined attributes are left out.
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** A button that is no form's. */
export function button(text: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}

/** For screen readers alone. */
export function unseen(text: string): HTMLElement {
  return element("span", { class: "unseen" }, text);
}

/** @throws {Error} when the page lacks it. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}

/** Changes text only where it is another one, so that selections stay. */
export function setText(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
