import { type Api, ApiFault } from "./api.js";
import { type Cell, createCell } from "./cell.js";
import { createCodeHistory } from "./code-history.js";
import { button, element, setText } from "./dom.js";
import { download } from "./download.js";
import { faultText, tellFault } from "./notices.js";

/** Runs that stay in the page, and what the arrow keys go back to. */
const maxCells = 200;

export interface Console {
  readonly node: HTMLElement;
  /** Nothing more can be run. */
  end(why: string): void;
  focus(): void;
}

/** A place to try code in one session. `onRun` is told when something begins or ends. */
export function createConsole(api: Api, session: string, interrupt: () => void, onRun: () => void): Console {
  const history = createCodeHistory(maxCells);
  const cells = element("div", { class: "cells", role: "log", "aria-label": "Output", tabindex: 0 });
  const empty = element("p", { class: "empty" }, "Nothing was run here yet. Write Python below; Ctrl+Enter runs it.");
  const field = element("textarea", { rows: 5, spellcheck: "false", autocapitalize: "off", autocomplete: "off" });
  const stop = button("Interrupt", interrupt, { disabled: true });
  const run = button("Run", () => start(), { class: "main", title: "Ctrl+Enter" });
  const hint = element("span", { class: "hint" }, "Ctrl+Enter runs · ↑ ↓ at the edge: earlier code");
  let running = 0;
  let isOver = false;
  cells.append(empty);

  const count = (by: number): void => {
    running += by;
    stop.disabled = running === 0;
    onRun();
  };
  const follow = async (cell: Cell, code: string, key: string): Promise<void> => {
    count(1);
    try {
      await api.run(session, { code }, key, (event) => {
        const isAtEnd = cells.scrollHeight - cells.scrollTop - cells.clientHeight < 40;
        cell.tell(event);
        if (isAtEnd) cells.scrollTop = cells.scrollHeight;
      });
    } catch (fault) {
      const { message, cure } = faultText(fault);
      const isLost = fault instanceof ApiFault && fault.status === 0;
      cell.fail(message, cure, isLost ? () => void follow(cell, code, key) : undefined);
    } finally {
      count(-1);
    }
  };
  const start = (): void => {
    const code = field.value;
    field.focus();
    if (code.trim() === "" || isOver) return;
    history.add(code);
    field.value = "";
    empty.remove();
    const cell = createCell(code, (path) => void download(api, session, path).catch(tellFault));
    cells.append(cell.node);
    while (cells.childElementCount > maxCells) cells.firstElementChild?.remove();
    cells.scrollTop = cells.scrollHeight;
    void follow(cell, code, newKey());
  };
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) start();
    else if (event.key === "Enter" && !event.shiftKey && !event.altKey) newLine(field);
    else if (!walk(field, event, history.older, history.newer)) return;
    event.preventDefault();
  });
  const composer = element(
    "div",
    { class: "composer" },
    element("label", {}, "Python code", field),
    element("div", { class: "row" }, run, stop, hint),
  );
  return {
    node: element("section", { class: "console" }, cells, composer),
    end(why) {
      isOver = true;
      field.disabled = true;
      run.disabled = true;
      setText(hint, why);
    },
    focus: () => field.focus(),
  };
}

/** A line under one that is indented, or that opens a block, is indented as well. */
function newLine(field: HTMLTextAreaElement): void {
  const line = field.value.slice(0, field.selectionStart).split("\n").at(-1) ?? "";
  const [indent = ""] = /^[ \t]*/.exec(line) ?? [];
  // In place of setRangeText, which cannot be undone by a person.
  document.execCommand("insertText", false, `\n${indent}${/:\s*$/.test(line) ? "    " : ""}`);
}

/** Arrow keys leave the text only where the cursor could go no further. */
function walk(
  field: HTMLTextAreaElement,
  { key, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent,
  older: (draft: string) => string | undefined,
  newer: () => string | undefined,
): boolean {
  if (shiftKey || altKey || ctrlKey || metaKey || field.selectionStart !== field.selectionEnd) return false;
  const at = field.selectionStart;
  const isUp = key === "ArrowUp" && !field.value.slice(0, at).includes("\n");
  const isDown = key === "ArrowDown" && !field.value.slice(at).includes("\n");
  if (!isUp && !isDown) return false;
  const code = isUp ? older(field.value) : newer();
  if (code === undefined) return false;
  field.value = code;
  const end = isUp ? 0 : code.length;
  field.setSelectionRange(end, end);
  return true;
}

/** Not `randomUUID`, which is absent where the page came without TLS under a name. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
