import { element } from "./dom.js";

/** Asks for the bearer token. */
export function signIn(why: string | undefined, onToken: (token: string) => void): HTMLElement {
  const field = element("input", {
    ...{ id: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false" },
    ...(why === undefined ? {} : { "aria-describedby": "why", "aria-invalid": "true" }),
  });
  const form = element(
    "form",
    { class: "sign-in" },
    element("h2", {}, "Sign in"),
    element(
      "p",
      {},
      "This server asks for a bearer token: ",
      element("code", {}, "berth-shipyard token NAME --file F"),
      " makes one.",
    ),
    ...(why === undefined ? [] : [element("p", { id: "why", class: "why", role: "alert" }, why)]),
    element("label", { for: "token" }, "Token"),
    field,
    element("button", { class: "main" }, "Sign in"),
    element("p", { class: "hint" }, "It is kept until this tab is closed, and nowhere else."),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim() !== "") onToken(field.value.trim());
  });
  return form;
}
