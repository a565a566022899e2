// Tools of the interop server, one for each thing that a client may do with a call.
import { questions } from "./questions.mjs";

const nothing = { type: "object", additionalProperties: false };
const word = { type: "string" };
const takes = (properties, required = Object.keys(properties)) => ({ type: "object", properties, required });
const pixel = "iVBORw0KGgo=";
const annotations = { audience: ["user", "assistant"], priority: 1, lastModified: "2026-01-02T03:04:05Z" };

/** Something that happens once for each key, whoever waits for it first. */
function createOccasions() {
  const all = new Map();
  return (key) => {
    if (!all.has(key)) {
      const occasion = {};
      occasion.promise = new Promise((resolve) => {
        occasion.resolve = resolve;
      });
      all.set(key, occasion);
    }
    return all.get(key);
  };
}

const contents = [
  { type: "text", text: "grüße", annotations, _meta: { "example.com/n": 1 } },
  { type: "image", data: pixel, mimeType: "image/png", annotations },
  { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
  { type: "resource_link", uri: "note:///1", name: "note", title: "First note", mimeType: "text/plain", size: 5 },
  { type: "resource", resource: { uri: "note:///1", mimeType: "text/plain", text: "first" }, annotations },
  { type: "resource", resource: { uri: "note:///bytes", mimeType: "image/png", blob: pixel } },
];
const weather = takes({ celsius: { type: "number" }, sky: { enum: ["clear", "cloudy"] } });

/** Waits until another call releases it by its key; each nudge is one more step of progress. */
function waitingTools(tool) {
  const released = createOccasions();
  const aborted = createOccasions();
  const begun = createOccasions();
  const key = takes({ key: word });
  return [
    tool("waits", key, ({ arguments: { key }, signal, progress }) => {
      let step = 1;
      progress(step, 3, `step ${step}`);
      begun(key).resolve(() => {
        step += 1;
        progress(step, 3, `step ${step}`);
      });
      return new Promise((resolve, reject) => {
        released(key).promise.then(resolve);
        signal.addEventListener("abort", () => {
          aborted(key).resolve();
          reject(signal.reason);
        });
      });
    }),
    tool("nudges", key, async ({ arguments: { key } }) => {
      (await begun(key).promise)();
      return "nudged";
    }),
    tool("releases", takes({ key: word, text: word }), async ({ arguments: { key, text } }) => {
      await begun(key).promise;
      released(key).resolve(text);
      return "released";
    }),
    tool("begun", key, async ({ arguments: { key } }) => {
      await begun(key).promise;
      return "begun";
    }),
    tool("aborted", key, async ({ arguments: { key } }) => {
      await aborted(key).promise;
      return "aborted";
    }),
  ];
}

function contentTools(tool, icon) {
  return [
    {
      ...tool("echo", takes({ text: word }), ({ arguments: { text } }) => text),
      title: "Echo",
      description: "Says it again",
      annotations: {
        title: "Echo",
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      icons: [icon],
      _meta: { "example.com/kind": "tool" },
    },
    tool("contents", nothing, () => ({ content: contents, _meta: { "example.com/result": true } })),
    {
      ...tool("weather", takes({ sky: word }), ({ arguments: { sky } }) => ({
        structuredContent: { celsius: 21.5, sky },
      })),
      outputSchema: weather,
    },
    {
      ...tool("numbers", nothing, () => ({ structuredContent: [1, 2] })),
      outputSchema: { type: "array", items: { type: "integer" } },
    },
    {
      ...tool("no-weather", nothing, () => ({ content: [{ type: "text", text: "no sky" }], isError: true })),
      outputSchema: weather,
    },
    tool("fails", nothing, () => {
      throw new RangeError("too far");
    }),
    { ...tool("secret", nothing, () => "gold"), permission: "admin" },
  ];
}

async function ask(what, requestInput) {
  const answers = {};
  for (const round of questions[what]) Object.assign(answers, await requestInput(round));
  return JSON.stringify(answers);
}

export function createTools({ icon, server, ping, sessionCount, requestCount }) {
  const tool = (name, inputSchema, handler) => ({ name, description: name, inputSchema, permission: "use", handler });
  const region = { ...word, "x-mcp-header": "Region" };
  return [
    ...contentTools(tool, icon),
    ...waitingTools(tool),
    tool("logs", nothing, ({ log }) => {
      for (const level of ["debug", "info", "warning", "error"]) log(level, { said: level }, "tests");
      return "logged";
    }),
    tool("asks", takes({ what: { enum: Object.keys(questions) } }), ({ arguments: { what }, requestInput }) =>
      ask(what, requestInput),
    ),
    tool("changes", takes({ what: { enum: ["tools", "prompts", "resources"] } }), ({ arguments: { what } }) => {
      server().listChanged(what);
      return "changed";
    }),
    tool("updates", takes({ uri: word }), ({ arguments: { uri } }) => {
      server().resourceUpdated(uri);
      return "updated";
    }),
    tool("scope", nothing, ({ principal, revision, clientCapabilities, meta, trace }) => ({
      structuredContent: { principal, revision, clientCapabilities, meta, trace },
    })),
    tool("routed", takes({ region }), ({ arguments: { region } }) => region),
    tool("polls", nothing, ({ progress, releaseStream }) => {
      progress(1);
      releaseStream();
      return new Promise((resolve) => setImmediate(resolve, "polled"));
    }),
    tool("sessions", nothing, () => String(sessionCount())),
    tool("requests", takes({ method: word }), ({ arguments: { method } }) => String(requestCount(method))),
    tool("pings", nothing, async () => {
      await ping();
      return "pinged";
    }),
    { ...tool("computes", nothing, () => "computed"), task: { support: "required", pollIntervalMs: 20 } },
    {
      ...tool("reports", nothing, async ({ requestInput, progress }) => {
        progress(1, 2, "asking");
        return JSON.stringify((await requestInput(questions.accept[0])).a);
      }),
      task: { support: "optional", pollIntervalMs: 20 },
    },
  ];
}
