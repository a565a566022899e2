import type { StatusBody } from "../http/rest/wire.js";
import { clock } from "./clocks.js";
import { button, element, setText } from "./dom.js";
import { endsAt, idleEndsAt } from "./lease-clocks.js";
import { isLiving, stateText } from "./session-state.js";

export interface SessionList {
  readonly node: HTMLElement;
  /** By key, one of which is chosen. Rows stay where they are as long as their order does: they are clicked and focused. */
  update(all: ReadonlyMap<string, StatusBody>, chosen: string | undefined): void;
}

interface Row {
  readonly node: HTMLElement;
  update(status: StatusBody, isChosen: boolean): void;
}

export function createSessionList(
  now: () => number,
  choose: (key: string) => void,
  dismiss: (key: string) => void,
): SessionList {
  const rows = new Map<string, Row>();
  const list = element("ul", { class: "sessions", "aria-label": "Sessions" });
  const none = "No session runs. Start one to run code: it keeps its variables and files.";
  const empty = element("p", { class: "empty" }, none);
  return {
    node: element("div", {}, empty, list),
    update(all, chosen) {
      // The living ones first.
      const ordered = [...all].sort(([, one], [, other]) => Number(isLiving(other)) - Number(isLiving(one)));
      const nodes = ordered.map(([key, status]) => {
        const row =
          rows.get(key) ??
          createRow(
            status,
            now,
            () => choose(key),
            () => dismiss(key),
          );
        rows.set(key, row);
        row.update(status, key === chosen);
        return row.node;
      });
      for (const key of rows.keys()) if (!all.has(key)) rows.delete(key);
      if (nodes.length !== list.childElementCount || nodes.some((node, at) => list.children[at] !== node))
        list.replaceChildren(...nodes);
      empty.hidden = nodes.length > 0;
    },
  };
}

function createRow({ session_id: id }: StatusBody, now: () => number, choose: () => void, dismiss: () => void): Row {
  const state = element("span", {});
  const lines = [element("span", { class: "clocks" }), element("span", { class: "clocks" })];
  const open = button("", choose);
  open.append(element("span", { class: "name" }, id), state, ...lines);
  const remove = button("×", dismiss, { class: "quiet", "aria-label": `Dismiss ${id}` });
  return {
    node: element("li", {}, open, remove),
    update(status, isChosen) {
      const { text, kind } = stateText(status);
      state.className = `state ${kind}`;
      setText(state, text);
      linesOf(status, now()).forEach((line, at) => {
        lines[at]?.replaceChildren(...line);
      });
      if (isChosen) open.setAttribute("aria-current", "true");
      else open.removeAttribute("aria-current");
      remove.hidden = isLiving(status);
    },
  };
}

function linesOf(status: StatusBody, now: number): readonly (readonly (Node | string)[])[] {
  if (!isLiving(status)) return [[status.end?.detail ?? ""], []];
  return [
    ["age ", clock("since", Date.parse(status.created_at), now), " · ends in ", endsAt(status.lease, now)],
    ["unused, ends in ", idleEndsAt(status.lease, status, now)],
  ];
}
