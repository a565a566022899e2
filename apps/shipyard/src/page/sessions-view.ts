import type { StatusBody } from "../http/rest/wire.js";
import { type Api, sessionPath } from "./api.js";
import { clock } from "./clocks.js";
import { button, element } from "./dom.js";
import { endsAt, idleEndsAt } from "./lease-clocks.js";
import { createSessionDetail, type SessionDetail } from "./session-detail.js";
import { isLiving, stateText } from "./session-state.js";
import { startForm } from "./start-form.js";

/** Ended sessions that the list still tells of; the server forgets them too. */
const maxEnded = 20;

export interface SessionsView {
  readonly node: HTMLElement;
  /** The living ones, by id. What is no longer among them is asked for its end. */
  update(living: readonly StatusBody[]): Promise<void>;
}

/** A session that was seen: a name may be used again once its session has ended. */
const keyOf = ({ lease }: StatusBody): string => lease.id;

export function createSessionsView(api: Api, onChange: () => void): SessionsView {
  const known = new Map<string, StatusBody>();
  const details = new Map<string, SessionDetail>();
  let chosen: string | undefined;
  const list = element("ul", { class: "sessions", "aria-label": "Sessions" });
  const empty = element(
    "p",
    { class: "empty" },
    "No session runs. Start one to run code: it keeps its variables and files.",
  );
  const place = element("div", { class: "place" });

  const choose = (key: string, moveFocus: boolean): void => {
    chosen = key;
    const status = known.get(key);
    if (status !== undefined && !details.has(key)) {
      const detail = createSessionDetail(api, status, onChange);
      details.set(key, detail);
      place.append(detail.node);
    }
    for (const [one, { node }] of details) node.hidden = one !== key;
    show();
    if (moveFocus) details.get(key)?.focus();
  };
  const dismiss = (key: string): void => {
    details.get(key)?.node.remove();
    details.delete(key);
    known.delete(key);
    if (chosen === key) chosen = undefined;
    show();
  };
  const show = (): void => {
    const focused = document.activeElement?.getAttribute("data-key");
    const all = [...known].sort(([, one], [, other]) => Number(isLiving(other)) - Number(isLiving(one)));
    list.replaceChildren(...all.map(([key, status]) => item(key, status, key === chosen, api.now(), choose, dismiss)));
    if (focused != null) list.querySelector<HTMLElement>(`[data-key="${focused}"]`)?.focus();
    empty.hidden = known.size > 0;
  };
  const add = (status: StatusBody): void => {
    known.set(keyOf(status), status);
    details.get(keyOf(status))?.update(status);
  };
  const started = (status: StatusBody): void => {
    add(status);
    choose(keyOf(status), true);
    onChange();
  };
  const side = element("aside", { class: "side", "aria-label": "Sessions" }, startForm(api, started), empty, list);
  return {
    node: element("div", { class: "sessions-view" }, side, place),
    async update(living) {
      for (const status of living) add(status);
      const now = new Set(living.map(keyOf));
      const gone = [...known.values()].filter((status) => isLiving(status) && !now.has(keyOf(status)));
      for (const status of gone) add(await endOf(api, status));
      const ended = [...known].filter(([, status]) => !isLiving(status));
      for (const [key] of ended.slice(0, Math.max(0, ended.length - maxEnded))) dismiss(key);
      const [first] = living;
      if (chosen === undefined && first !== undefined) choose(keyOf(first), false);
      show();
    },
  };
}

/** How it ended, as long as the server tells; the name may be another session's by now. */
async function endOf(api: Api, status: StatusBody): Promise<StatusBody> {
  const asked = await api.get<StatusBody>(sessionPath(status.session_id)).catch(() => undefined);
  return asked !== undefined && keyOf(asked) === keyOf(status) ? asked : { ...status, state: "stopped", busy: false };
}

function item(
  key: string,
  status: StatusBody,
  isChosen: boolean,
  now: number,
  choose: (key: string, moveFocus: boolean) => void,
  dismiss: (key: string) => void,
): HTMLElement {
  const { text, kind } = stateText(status);
  const clocks = isLiving(status)
    ? ["age ", clock("since", Date.parse(status.created_at), now), " · ends in ", endsAt(status.lease, now)]
    : [status.end === undefined ? "" : status.end.detail];
  const idle = isLiving(status) ? ["unused, ends in ", idleEndsAt(status.lease, status, now)] : [];
  const open = button("", () => choose(key, true), { "aria-current": isChosen ? "true" : undefined, "data-key": key });
  open.append(
    element("span", { class: "name" }, status.session_id),
    element("span", { class: `state ${kind}` }, text),
    element("span", { class: "clocks" }, ...clocks),
    element("span", { class: "clocks" }, ...idle),
  );
  const remove = button("×", () => dismiss(key), { class: "quiet", "aria-label": `Dismiss ${status.session_id}` });
  return element("li", {}, open, ...(isLiving(status) ? [] : [remove]));
}
