import type { PageUserBody } from "../http/rest/wire.js";
import { ApiFault, createApi } from "./api.js";
import { button, byId, element } from "./dom.js";
import { faultText } from "./notices.js";
import { signIn } from "./sign-in.js";
import { createTokenKeeper } from "./token.js";
import { openWorkspace, type Workspace } from "./workspace.js";

const tokens = createTokenKeeper(sessionStorage);
const api = createApi(() => tokens.token, askForToken);
const main = byId("main");
let workspace: Workspace | undefined;

function leave(): void {
  workspace?.close();
  workspace = undefined;
  byId("who").replaceChildren();
}

function askForToken(): void {
  const why = tokens.token === undefined ? undefined : "This token is not, or no longer, good here.";
  showSignIn(why);
}

function showSignIn(why: string | undefined): void {
  leave();
  tokens.forget();
  main.replaceChildren(
    signIn(why, (token) => {
      tokens.keep(token);
      void open();
    }),
  );
  document.getElementById("token")?.focus();
}

async function open(): Promise<void> {
  try {
    const user = await api.get<PageUserBody>("/v1/page");
    leave();
    workspace = openWorkspace(api, user);
    byId("who").replaceChildren(...who(user));
    main.replaceChildren(workspace.node);
  } catch (fault) {
    if (fault instanceof ApiFault && fault.status === 401) return; // the sign-in is there
    if (fault instanceof ApiFault && fault.status === 404)
      return showSignIn("This token's principal may not use the page: page.principals of shipyard.yaml names who may.");
    const { message, cure } = faultText(fault);
    main.replaceChildren(
      element("p", { class: "warning", role: "alert" }, message, ...(cure === undefined ? [] : [" ", cure])),
      button("Try again", () => void open()),
    );
  }
}

function who({ principal, operator, version }: PageUserBody): readonly Node[] {
  const name = element(
    "span",
    { title: `berth-shipyard ${version}` },
    operator ? `${principal} (operator)` : principal,
  );
  if (tokens.token === undefined) return [name];
  return [name, button("Sign out", () => showSignIn(undefined), { class: "quiet" })];
}

void open();
