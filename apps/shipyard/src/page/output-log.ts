import type { DisplayBody } from "../http/rest/wire.js";
import { displayElement } from "./displays.js";
import { element, unseen } from "./dom.js";

/** Text of one run that is put into the page. */
const maxShownChars = 200_000;

/** What one run has given so far, in the order in which it came. */
export interface OutputLog {
  readonly node: HTMLElement;
  write(kind: "stdout" | "stderr", text: string): void;
  display(one: DisplayBody): void;
  add(...more: readonly HTMLElement[]): void;
  clear(): void;
  /** Characters that were given, shown or not. */
  readonly written: number;
  readonly isCut: boolean;
  readonly displays: number;
  /** Whether the last value was displayed. */
  readonly hasResult: boolean;
}

export function createOutputLog(): OutputLog {
  const node = element("div", { class: "output" });
  let written = 0;
  let displays = 0;
  let hasResult = false;
  return {
    node,
    write(kind, text) {
      const room = maxShownChars - written;
      written += text.length;
      if (room > 0) append(node, kind, text.slice(0, room));
    },
    display(one) {
      displays += 1;
      hasResult ||= one.kind === "result";
      node.append(displayElement(one));
    },
    add: (...more) => node.append(...more),
    clear() {
      node.replaceChildren();
      [written, displays, hasResult] = [0, 0, false];
    },
    get written() {
      return written;
    },
    get isCut() {
      return written > maxShownChars;
    },
    get displays() {
      return displays;
    },
    get hasResult() {
      return hasResult;
    },
  };
}

/** One element for all that comes without the other stream in between. */
function append(node: HTMLElement, kind: "stdout" | "stderr", text: string): void {
  const last = node.lastElementChild;
  const tail = last?.classList.contains(kind) === true ? last.lastChild : null;
  if (tail instanceof Text) {
    tail.appendData(text);
    return;
  }
  const label = kind === "stderr" ? [unseen("Error output: ")] : [];
  node.append(element("pre", { class: kind }, ...label, document.createTextNode(text)));
}
