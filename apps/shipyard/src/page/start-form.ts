import type { StartBody, StatusBody } from "../http/rest/wire.js";
import type { Api } from "./api.js";
import { element } from "./dom.js";
import { act } from "./notices.js";

const lifetimes = [
  ["as configured", ""],
  ["15 minutes", "900000"],
  ["1 hour", "3600000"],
  ["8 hours", "28800000"],
] as const;
const idles = [
  ["as configured", ""],
  ["5 minutes", "300000"],
  ["15 minutes", "900000"],
  ["1 hour", "3600000"],
] as const;

/** Starts a session; `onStarted` gets it. */
export function startForm(api: Api, onStarted: (status: StatusBody) => void): HTMLElement {
  const name = element("input", {
    ...{ id: "name", placeholder: "name (optional)", maxlength: 64, autocomplete: "off", spellcheck: "false" },
    ...{
      pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]{0,63}",
      title: "letters, digits, dots, dashes, underscores; first a letter or digit",
    },
  });
  const ttl = choice("ttl", lifetimes);
  const idle = choice("idle", idles);
  const go = element("button", { class: "main" }, "Start");
  const form = element(
    "form",
    { class: "start", "aria-label": "Start a session" },
    element("label", { for: "name", class: "unseen" }, "Name of a new session"),
    element("div", { class: "row" }, name, go),
    element(
      "details",
      {},
      element("summary", {}, "Lifetime"),
      element("label", { for: "ttl" }, "Ends after"),
      ttl,
      element("label", { for: "idle" }, "Unused, ends after"),
      idle,
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (go.hasAttribute("aria-busy")) return;
    void act(go, async () => {
      const wanted: StartBody = {
        session_id: name.value === "" ? undefined : name.value,
        ttl_ms: ttl.value === "" ? undefined : Number(ttl.value),
        idle_ms: idle.value === "" ? undefined : Number(idle.value),
      };
      const started = await api.post<StatusBody>("/v1/sessions", wanted);
      name.value = "";
      onStarted(started);
    });
  });
  return form;
}

function choice(id: string, options: readonly (readonly [string, string])[]): HTMLSelectElement {
  return element("select", { id }, ...options.map(([text, value]) => element("option", { value }, text)));
}
