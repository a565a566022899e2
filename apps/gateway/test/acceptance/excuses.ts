/** What may differ between two runs of the same server, each with the reason; all else is compared byte for byte. */
import { serverRequestIn } from "./raw-client.js";

export interface Excuse {
  /** The server's name in real-servers.ts, or "*" for every one. */
  readonly server: string;
  /** The steps in whose frames it holds. */
  readonly asked: RegExp;
  readonly field: string;
  readonly reason: string;
  /** Takes exactly that field out of a frame. */
  readonly settle: (frame: string) => string;
}

const clock = /\d+:\d+:\d+ [AP]M/g;
const withoutClock = (frame: string): string => frame.replaceAll(clock, "(time)");

const withoutClockInBlob = (frame: string): string =>
  frame.replaceAll(/"blob":"([^"]*)"/g, (_, blob: string) => {
    const text = Buffer.from(blob, "base64").toString("utf8");
    return `"blob":"${Buffer.from(withoutClock(text)).toString("base64")}"`;
  });

const withSortedLines = (frame: string): string =>
  frame.replace(/\{\\n.*\\n\}/, (text) => text.replaceAll(",\\n", "\\n").split("\\n").sort().join("\\n"));

const withoutRequestId = (frame: string): string => {
  const request = serverRequestIn(frame);
  return request === undefined ? frame : frame.replace(`"id":${JSON.stringify(request.id)}`, '"id":"(own)"');
};

const withoutStrings =
  (...names: readonly string[]) =>
  (frame: string): string =>
    names.reduce((text, name) => text.replaceAll(new RegExp(`"${name}":"[^"]*"`, "g"), `"${name}":"(run)"`), frame);

export const excuses: readonly Excuse[] = [
  {
    server: "*",
    asked: /^/,
    field: "id of a request that the server makes",
    reason: "the gateway numbers them itself, since several servers may share one client",
    settle: withoutRequestId,
  },
  {
    server: "everything",
    asked: /^(tools\/call get-resource-reference|prompts\/get resource-prompt|resources\/read demo:.*\/dynamic\/text)/,
    field: "time of day in the text",
    reason: "the server writes when it was asked",
    settle: withoutClock,
  },
  {
    server: "everything",
    asked: /^(tools\/call get-resource-reference|prompts\/get resource-prompt|resources\/read demo:.*\/dynamic\/blob)/,
    field: "time of day in the decoded blob",
    reason: "the server writes when it was asked",
    settle: withoutClockInBlob,
  },
  {
    server: "everything",
    asked: /^tools\/call get-env$/,
    field: "order of the variables",
    reason: "nobody promises the order in which a process gets them",
    settle: withSortedLines,
  },
  {
    server: "everything",
    asked: /^tools\/call toggle-simulated-logging$/,
    field: "level and text of the logging message",
    reason: "the server draws one of eight messages at random",
    settle: (frame) =>
      frame.startsWith('{"method":"notifications/message"')
        ? frame.replace(/"params":\{[^}]*\}/, '"params":"(random message)"')
        : frame,
  },
  {
    server: "everything",
    asked: /^(tools\/call simulate-research-query|tasks\/)/,
    field: "taskId, createdAt, lastUpdatedAt",
    reason: "the server makes up a random id and writes when it worked",
    settle: withoutStrings("taskId", "createdAt", "lastUpdatedAt"),
  },
  {
    server: "everything",
    asked: /^tools\/call trigger-url-elicitation$/,
    field: "elicitationId of the prerequisite",
    reason: "the server makes up a random id",
    settle: (frame) => (frame.includes("-32042") ? withoutStrings("elicitationId")(frame) : frame),
  },
  {
    server: "filesystem",
    asked: /^tools\/call get_file_info$/,
    field: "created, accessed",
    reason: "the file is made anew for each run, and reads move its access time",
    settle: (frame) => frame.replaceAll(/(created|accessed): .*?(?=\\n)/g, "$1: (time)"),
  },
];

/** A frame without what is excused for this step. */
export function settled(server: string, asked: string, frame: string): string {
  return excuses
    .filter((excuse) => (excuse.server === "*" || excuse.server === server) && excuse.asked.test(asked))
    .reduce((text, excuse) => excuse.settle(text), frame);
}
