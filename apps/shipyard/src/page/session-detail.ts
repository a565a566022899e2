import type { StatusBody } from "../http/rest/wire.js";
import { type Api, sessionPath } from "./api.js";
import { limitText } from "./clock.js";
import { clock } from "./clocks.js";
import { confirmButton } from "./confirm-button.js";
import { createConsole } from "./console.js";
import { button, element, setText } from "./dom.js";
import { createFilesView } from "./files-view.js";
import { ceilingAt, endsAt, idleEndsAt } from "./lease-clocks.js";
import { act } from "./notices.js";
import { isLiving, stateText } from "./session-state.js";
import { tabs } from "./tabs.js";
import { createVariablesView } from "./variables-view.js";

/** Everything about one session. It stays in the page once it was looked at: frames of its output would load anew. */
export interface SessionDetail {
  readonly node: HTMLElement;
  update(status: StatusBody): void;
  focus(): void;
}

/** `onChange` is told when something was asked of the server. */
export function createSessionDetail(api: Api, first: StatusBody, onChange: () => void): SessionDetail {
  const { session_id: id } = first;
  let status = first;
  const path = sessionPath(id);
  const state = element("span", { class: "state" });
  const facts = element("dl", { class: "facts" });
  const buttons = element("div", { class: "row" });
  const stop = confirmButton("Stop", "Stop it and lose its state?", () => void act(stop, end), id);
  const end = async (): Promise<void> => {
    await api.remove(path);
    onChange();
  };
  const renew = renewal(async (ttlMs) => {
    // Each use makes another generation: fenced by the newest, since what this page knows is seconds old.
    const { lease } = await api.get<StatusBody>(path);
    await api.post(`${path}/renew`, { ttl_ms: ttlMs, generation: lease.generation });
    onChange();
  });
  buttons.append(renew, stop);
  const files = createFilesView(api, id);
  const variables = createVariablesView(api, id);
  const console = createConsole(api, id, onChange);
  const refreshed = (view: { refresh(): void }) => () => {
    if (isLiving(status)) view.refresh();
  };
  const update = (next: StatusBody): void => {
    status = next;
    state.className = `state ${stateText(next).kind}`;
    setText(state, stateText(next).text);
    facts.replaceChildren(...factsOf(next, api.now()).flatMap(fact));
    buttons.hidden = !isLiving(next);
    if (isLiving(next)) return;
    console.end(next.end === undefined ? "It has ended." : `It ended: ${next.end.detail}`);
    files.node.replaceChildren(element("p", { class: "empty" }, "It has ended, and its files with it."));
    variables.node.replaceChildren(element("p", { class: "empty" }, "It has ended, and its variables with it."));
  };
  const node = element(
    "section",
    { class: "detail", "aria-label": `Session ${id}` },
    element("div", { class: "head" }, element("h2", {}, id), state, buttons),
    facts,
    tabs(`Session ${id}`, `session-${first.lease.id}`, [
      { name: "Console", panel: console.node },
      { name: "Files", panel: files.node, onShown: refreshed(files) },
      { name: "Variables", panel: variables.node, onShown: refreshed(variables) },
    ]),
  );
  update(first);
  return { node, update, focus: console.focus };
}

type Fact = readonly [name: string, value: string | Node];

function fact([name, value]: Fact): readonly HTMLElement[] {
  return [element("div", {}, element("dt", {}, name), element("dd", {}, value))];
}

function factsOf(status: StatusBody, now: number): readonly Fact[] {
  const { lease, enforced, restriction, end } = status;
  const limits = enforced.map(({ limit, value, by }) =>
    element("li", { title: `held by ${by}` }, limitText(limit, value)),
  );
  const common: readonly Fact[] = [
    ["Runs", String(status.executions)],
    [
      "In",
      status.isolated
        ? `${lease.profile} · sandbox by ${lease.provider}`
        : `${lease.profile} · NOT isolated (${lease.provider})`,
    ],
    ...(restriction === undefined ? [] : [["Restricted", restriction] as const]),
    ["Limits", limits.length === 0 ? "none" : element("ul", { class: "chips" }, ...limits)],
  ];
  if (end !== undefined) {
    return [["Ended", new Date(end.at).toLocaleString()], ["Why", `${end.reason}: ${end.detail}`], ...common];
  }
  return [
    ["Age", clock("since", Date.parse(status.created_at), now)],
    ["Ends in", endsAt(lease, now)],
    ["At the latest in", ceilingAt(lease, now)],
    ["Unused, ends in", idleEndsAt(lease, status, now)],
    ...common,
  ];
}

const spans = [
  ["15 minutes", 900_000],
  ["1 hour", 3_600_000],
  ["8 hours", 28_800_000],
  ["24 hours", 86_400_000],
] as const;

/** From now on; the server moves no end to an earlier time, and none past the ceiling. */
function renewal(renew: (ttlMs: number) => Promise<void>): HTMLElement {
  const options = spans.map(([text, ms]) => element("option", { value: ms, selected: ms === 3_600_000 }, text));
  const choice = element("select", { "aria-label": "Keep it at least" }, ...options);
  const go = button("Renew", () => void act(go, () => renew(Number(choice.value))), {
    title: "Moves the end of its lease; never to an earlier time",
  });
  return element("span", { class: "joined" }, choice, go);
}
