import { button, element } from "./dom.js";

/** Members shown at once. */
const maxMembers = 200;
/** Of one text. */
const maxTextLength = 2_000;

/** A value that opens step by step: what is closed costs nothing, however deep it is. */
export function jsonTree(value: unknown): HTMLElement {
  return element("div", { class: "json" }, node(undefined, value, true));
}

function node(name: string | undefined, value: unknown, isOpen: boolean): HTMLElement {
  const label = name === undefined ? [] : [element("span", { class: "key" }, name), ": "];
  if (typeof value !== "object" || value === null) return element("div", { class: "leaf" }, ...label, leaf(value));
  const members = Object.entries(value);
  const count = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`;
  if (members.length === 0) return element("div", { class: "leaf" }, ...label, count);
  const folder = element("details", { open: isOpen }, element("summary", {}, ...label, count));
  const fill = (): void => {
    if (folder.open && folder.childElementCount === 1) addMembers(folder, members, 0);
  };
  folder.addEventListener("toggle", fill);
  fill();
  return folder;
}

function addMembers(folder: HTMLElement, members: readonly (readonly [string, unknown])[], from: number): void {
  const to = from + maxMembers;
  folder.append(...members.slice(from, to).map(([name, value]) => node(name, value, false)));
  if (to >= members.length) return;
  const more = button(`${members.length - to} more`, () => {
    more.remove();
    addMembers(folder, members, to);
  });
  folder.append(more);
}

function leaf(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}… (${text.length} characters)` : text;
}
