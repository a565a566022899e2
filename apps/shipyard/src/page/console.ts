import { type Api, ApiFault, sessionPath } from "./api.js";
import { type Cell, createCell, type Saver } from "./cell.js";
import { createCodeHistory } from "./code-history.js";
import { createComposer } from "./composer.js";
import { element } from "./dom.js";
import { download, saveAs } from "./download.js";
import { faultText, tellFault } from "./notices.js";

/** Runs that stay in the page, and what the arrow keys go back to. */
const maxCells = 200;
/** Whoever is so near to the end, in pixels, is shown what comes. */
const nearEnd = 40;

export interface Console {
  readonly node: HTMLElement;
  /** Nothing more can be run. */
  end(why: string): void;
  focus(): void;
}

/** A place to try code in one session. `onRun` is told when something begins or ends. */
export function createConsole(api: Api, session: string, onRun: () => void): Console {
  const history = createCodeHistory(maxCells);
  const cells = element("div", { class: "cells", role: "log", "aria-label": "Output", tabindex: 0 });
  const empty = element("p", { class: "empty" }, "Nothing was run here yet. Write Python below; Ctrl+Enter runs it.");
  const composer = createComposer(
    history,
    (code) => start(code),
    () => api.post(`${sessionPath(session)}/interrupt`, {}),
  );
  const save: Saver = {
    file: (path) => void download(api, session, path).catch(tellFault),
    text: (text) => saveAs("output.txt", new Blob([text])),
  };
  let running = 0;
  cells.append(empty);

  const count = (by: number): void => {
    running += by;
    composer.setRunning(running > 0);
    onRun();
  };
  const follow = async (cell: Cell, code: string, key: string): Promise<void> => {
    count(1);
    try {
      await api.run(session, { code }, key, (event) => {
        const isAtEnd = cells.scrollHeight - cells.scrollTop - cells.clientHeight < nearEnd;
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
  const start = (code: string): void => {
    empty.remove();
    const cell = createCell(code, save);
    cells.append(cell.node);
    while (cells.childElementCount > maxCells) cells.firstElementChild?.remove();
    cells.scrollTop = cells.scrollHeight;
    void follow(cell, code, newKey());
  };
  const node = element("section", { class: "console" }, cells, composer.node);
  return { node, end: composer.end, focus: composer.focus };
}

/** Not `randomUUID`, which is absent where the page came without TLS under a name. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
