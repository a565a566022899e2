import type { CheckBody, MachineBody, PageUserBody } from "../http/rest/wire.js";
import type { Api } from "./api.js";
import { element, unseen } from "./dom.js";
import { faultText } from "./notices.js";
import { table } from "./table.js";

export interface MachineView {
  readonly node: HTMLElement;
  /** Looks when it is first seen: that starts sandboxes. */
  show(): void;
}

/** What this machine enforces, as it was found by trying. */
export function createMachineView(api: Api, user: PageUserBody): MachineView {
  const found = element("div", { "aria-live": "polite" });
  const { provider, isolated, uploads } = user;
  const isolation = isolated
    ? `Code runs in sandboxes of ${provider}. Without a sandbox nothing runs.`
    : `Code runs WITHOUT a sandbox (${provider}), with the rights of the server's user.`;
  const kept =
    uploads === undefined
      ? []
      : [element("p", {}, "Outlives sessions: ", element("code", {}, uploads), ", one folder an owner.")];
  const profiles = user.profiles.map(({ profile, refusal, ...one }) => [
    element("code", {}, profile),
    `${one.provider}${one.isolated ? "" : ", not isolated"}`,
    refusal === undefined ? mark("ok", "can be leased") : mark("fail", refusal.message),
    refusal?.cure ?? "",
  ]);
  const node = element(
    "section",
    { class: "machine" },
    element("h2", {}, "What this machine enforces"),
    element("p", { class: isolated ? "" : "warning" }, isolation),
    ...kept,
    element("h3", {}, "Profiles"),
    table("Profiles", ["Profile", "Provider", "State", "What to do"], profiles),
    element("h3", {}, "Found by trying"),
    found,
  );
  let isAsked = false;
  const look = async (): Promise<void> => {
    found.replaceChildren(
      element("p", { class: "empty" }, "Looking: a few sandboxes are started and try what they must not…"),
    );
    try {
      found.replaceChildren(...findings(await api.get<MachineBody>("/v1/page/machine")));
    } catch (fault) {
      isAsked = false; // the next look asks again
      found.replaceChildren(element("p", { class: "warning" }, faultText(fault).message));
    }
  };
  return {
    node,
    show() {
      if (isAsked) return;
      isAsked = true;
      void look();
    },
  };
}

function findings({ checked_at, checks }: MachineBody): readonly HTMLElement[] {
  const worse = checks.filter(({ status }) => status !== "ok").length;
  const summary = worse === 0 ? "everything holds" : `${worse} of ${checks.length} do not hold`;
  const rows = checks.map(({ name, status, message, advice }) => [
    element("code", {}, name),
    mark(status, message),
    status === "ok" ? "" : (advice ?? ""),
  ]);
  return [
    element("p", { class: "hint" }, `${summary}; found ${new Date(checked_at).toLocaleString()}, kept for ten minutes`),
    table("Findings", ["Aspect", "Seen", "What to do"], rows),
  ];
}

const marks: Readonly<Record<CheckBody["status"], readonly [sign: string, word: string]>> = {
  ok: ["✓", "holds: "],
  warn: ["!", "does not hold: "],
  fail: ["✗", "does not hold: "],
};

function mark(status: CheckBody["status"], text: string): HTMLElement {
  const [sign, word] = marks[status];
  return element(
    "span",
    { class: `mark ${status}` },
    element("span", { "aria-hidden": "true" }, `${sign} `),
    unseen(word),
    text,
  );
}
