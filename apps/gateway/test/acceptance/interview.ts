/** Asks everything of one server in an order and with ids that are the same each time, and keeps each frame it sends. */
import { settled } from "./excuses.js";
import { handshake, type RawClient, type ServerRequest } from "./raw-client.js";
import type { RealCall, RealServer } from "./real-servers.js";

/** One request and every frame that came since the step before, the answer last. */
export interface Step {
  readonly asked: string;
  readonly frames: readonly string[];
  /** The answer as it came. */
  readonly answer: string;
}

export type Ability = "bare" | "full";

export interface InterviewOptions {
  readonly ability: Ability;
  /** What goes before names. */
  readonly prefix?: string;
  /** How many lines the client had received already that are not this interview's. */
  readonly from?: number;
}

/** What a client announces that can do everything a server may ask of it. */
export const capabilitiesOf = {
  bare: {},
  full: {
    roots: { listChanged: true },
    sampling: {},
    elicitation: { form: {}, url: {} },
    tasks: {
      list: {},
      cancel: {},
      requests: { sampling: { createMessage: {} }, elicitation: { create: {} } },
    },
  },
} as const;

const sampled = { role: "assistant", content: { type: "text", text: "a reply" }, model: "none", stopReason: "endTurn" };
const filledIn = { action: "accept", content: { name: "Ann", check: true, interpretation: "technical" } };
const asTask = (taskId: string, status: string): object => ({
  taskId,
  status,
  ttl: 300_000,
  createdAt: "2026-01-01T00:00:00Z",
  lastUpdatedAt: "2026-01-01T00:00:00Z",
  pollInterval: 1000,
});

/** Answers a server's request, each time alike; work asked for as a task is done at the first poll. */
export function answerTo({ method, params }: ServerRequest, root: string): object {
  const task = params?.["task"] !== undefined;
  const taskId = String(params?.["taskId"]);
  switch (method) {
    case "roots/list":
      return { roots: [{ uri: `file://${root}`, name: "the folder" }] };
    case "sampling/createMessage":
      return task ? { task: asTask("sampling-1", "working") } : sampled;
    case "elicitation/create":
      if (params?.["mode"] === "url") return { action: "accept" };
      return task ? { task: asTask("elicitation-1", "working") } : filledIn;
    case "tasks/get":
      return asTask(taskId, "completed");
    case "tasks/result":
      return taskId === "sampling-1" ? sampled : filledIn;
    default:
      return {};
  }
}

/** The lists in which servers say what they have. */
export const listMethods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] as const;

/** Waits until a line came that holds a text; the client's own limit is on the requests, so this has one too. */
async function lineWith(client: RawClient, text: string): Promise<void> {
  const signal = AbortSignal.timeout(30_000);
  while (!client.received.some((line) => line.includes(text))) {
    await new Promise((resolve, reject) => {
      client.process.stdout.once("data", resolve);
      signal.addEventListener("abort", () => reject(new Error(`no line with ${text}: ${client.received.join("\n")}`)));
    });
  }
}

type TaskAnswer = { readonly result?: { readonly task?: { readonly taskId?: string } } };

/** Waits until the server has asked what it asks at once. */
export async function settledStart(client: RawClient, server: RealServer, ability: Ability): Promise<void> {
  if (ability === "full" && server.asksAtOnce) await lineWith(client, server.asksAtOnce);
}

/** The handshake as the first step, up to the point where the server has asked what it asks at once. */
export async function greet(client: RawClient, server: RealServer, ability: Ability): Promise<Step> {
  const answer = await handshake(client, capabilitiesOf[ability]);
  await settledStart(client, server, ability);
  return { asked: "initialize", frames: [answer], answer };
}

/** Asks for the lists, makes the calls, gets the prompts, reads the resources; `server` says which. */
export async function interview(
  client: RawClient,
  server: RealServer,
  { ability, prefix = "", from = 0 }: InterviewOptions,
): Promise<readonly Step[]> {
  const steps: Step[] = [];
  let seen = from;
  const ask = async (asked: string, method: string, params: object): Promise<string> => {
    const answer = await client.request(method, params, 100 + steps.length);
    const end = client.received.indexOf(answer, seen) + 1;
    const frames = client.received.slice(seen, end).map((frame) => settled(server.name, asked, frame));
    seen = end;
    steps.push({ asked, frames, answer });
    return answer;
  };
  const call = async ({ tool, arguments: given, meta, task }: RealCall): Promise<void> => {
    const params = { name: prefix + tool, arguments: given, ...(meta && { _meta: meta }), ...(task && { task }) };
    const answer = await ask(`tools/call ${tool}`, "tools/call", params);
    if (!task) return;
    const { result }: TaskAnswer = JSON.parse(answer);
    const taskId = result?.task?.taskId;
    for (const method of ["tasks/result", "tasks/get"]) await ask(method, method, { taskId });
    await ask("tasks/list", "tasks/list", {});
  };
  for (const method of listMethods) await ask(method, method, {});
  for (const uri of server.subscriptions ?? []) await ask(`resources/subscribe ${uri}`, "resources/subscribe", { uri });
  for (const each of server.calls) if (!each.full || ability === "full") await call(each);
  for (const prompt of server.prompts) {
    await ask(`prompts/get ${prompt.name}`, "prompts/get", { ...prompt, name: prefix + prompt.name });
  }
  for (const method of listMethods) await ask(`${method} after the calls`, method, {});
  for (const uri of server.resources) await ask(`resources/read ${uri}`, "resources/read", { uri });
  for (const uri of server.subscriptions ?? []) {
    await ask(`resources/unsubscribe ${uri}`, "resources/unsubscribe", { uri });
  }
  return steps;
}
