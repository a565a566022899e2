import type { StatusBody } from "../http/rest/wire.js";
import { type Api, sessionPath } from "./api.js";
import { element } from "./dom.js";
import { createSessionDetail, type SessionDetail } from "./session-detail.js";
import { createSessionList } from "./session-list.js";
import { isLiving } from "./session-state.js";
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
  const list = createSessionList(
    api.now,
    (key) => choose(key, true),
    (key) => dismiss(key),
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
  const show = (): void => list.update(known, chosen);
  const add = (status: StatusBody): void => {
    known.set(keyOf(status), status);
    details.get(keyOf(status))?.update(status);
  };
  const started = (status: StatusBody): void => {
    add(status);
    choose(keyOf(status), true);
    onChange();
  };
  const side = element("aside", { class: "side", "aria-label": "Sessions" }, startForm(api, started), list.node);
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
