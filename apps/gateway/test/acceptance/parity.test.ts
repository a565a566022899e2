/** Real servers behind the gateway answer as they do direct, compared frame by frame. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { leftOut } from "./coverage.js";
import { type Ability, answerTo, capabilitiesOf, greet, interview, type Step, settledStart } from "./interview.js";
import { handshake, type RawClient, startRawClient } from "./raw-client.js";
import { type RealServer, realServers, workplaceIn } from "./real-servers.js";

const bin = fileURLToPath(new URL("../../bin/berth-gateway.js", import.meta.url));
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "berth-acceptance-")));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const workplace = workplaceIn(scratch);
const servers = realServers(workplace);
const abilities = ["bare", "full"] as const;

/** PATH without the folders that npm puts there for one command, which the gateway leaves out on purpose. */
const searchPath = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !/(node_modules[\\/]\.bin|node-gyp-bin)[\\/]*$/u.test(folder))
  .join(delimiter);
/** What both sides run under: little enough that the gateway passes all of it on. */
const environment = { PATH: searchPath, HOME: process.env["HOME"] ?? "/" };
/** What the gateway adds for every node, so that no planted compile cache runs; servers tell their environment. */
const added = { NODE_DISABLE_COMPILE_CACHE: "1" };

const startClient = (command: string, args: readonly string[], env: Readonly<Record<string, string>>): RawClient =>
  startRawClient(command, args, { env, answer: (request) => answerTo(request, workplace.folder) });

interface Run {
  readonly steps: readonly Step[];
  /** The files as the run left them. */
  readonly left: unknown;
}

async function runWith(client: RawClient, server: RealServer, ability: Ability): Promise<Run> {
  workplace.reset();
  const greeting = await greet(client, server, ability);
  const steps = [greeting, ...(await interview(client, server, { ability }))];
  return { steps, left: workplace.left() };
}

async function runDirect(server: RealServer, ability: Ability): Promise<Run> {
  await using client = startClient(server.command, server.args, { ...environment, ...added, ...server.env });
  return await runWith(client, server, ability);
}

const framesOf = (steps: readonly Step[]): readonly object[] => steps.map(({ asked, frames }) => ({ asked, frames }));

describe("`run`, one server under its own names", () => {
  for (const server of servers) {
    for (const ability of abilities) {
      partTest(...server.needs)(
        `${server.name}, ${ability} client: each frame is the same, and all that is listed was used`,
        async () => {
          const direct = await runDirect(server, ability);
          expect(leftOut(direct.steps)).toEqual([]);
          const names = Object.keys(server.env ?? {}).flatMap((name) => ["--env", name]);
          const state = join(scratch, `run-${server.name}-${ability}`);
          const args = [bin, "run", "--state", state, ...names, "--", server.command, ...server.args];
          await using client = startClient(process.execPath, args, { ...environment, ...server.env });
          const through = await runWith(client, server, ability);
          expect(framesOf(through.steps)).toEqual(framesOf(direct.steps));
          expect(through.left).toEqual(direct.left);
        },
        120_000,
      );
    }
  }
});

/** The bytes of the entries in a list's answer: all between its brackets. */
function entriesIn(answer: string): string {
  const start = answer.indexOf("[");
  return start < 0 ? "" : answer.slice(start + 1, answer.lastIndexOf("]"));
}

/** The answer of a step, without what is excused. */
const answerOf = (step: Step | undefined): string => step?.frames.at(-1) ?? "";
const isList = ({ asked }: Step): boolean =>
  /^(initialize|(tools|prompts|resources|resources\/templates|tasks)\/list)/.test(asked);
/** Only `run` can pass on what belongs to no server. */
const onlyAlone = ({ asked }: Step): boolean => asked === "resources/read notes-unknown://x";

async function pinned(ability: Ability): Promise<readonly string[]> {
  const catalog = join(scratch, "catalog.json");
  const entries = servers.map(({ name, command, args, env }) => [
    name,
    { transport: "stdio", spawn: { command, args, ...(env && { env }) } },
  ]);
  writeFileSync(catalog, JSON.stringify({ version: 1, servers: Object.fromEntries(entries) }));
  const where = ["--catalog", catalog, "--state", join(scratch, `serve-${ability}`)];
  workplace.reset();
  const pin = startRawClient(process.execPath, [bin, "pin", ...where, "--yes"], { env: environment });
  expect(await pin.end(), pin.stderr()).toBe(0);
  return [bin, "serve", ...where, "--stdio"];
}

describe("`serve`, several servers under prefixed names", () => {
  const needs = [...new Set(servers.flatMap((server) => server.needs))];
  for (const ability of abilities) {
    partTest(...needs)(
      `${ability} client: each frame is the same but for the prefix, and lists hold the same bytes`,
      async () => {
        const args = await pinned(ability);
        await using client = startClient(process.execPath, args, environment);
        await handshake(client, capabilitiesOf[ability]);
        await client.request("tools/list"); // servers start at their first use
        for (const server of servers) {
          const direct = await runDirect(server, ability);
          const prefix = `${server.name}__`;
          workplace.reset();
          await settledStart(client, server, ability);
          const through = await interview(client, server, { ability, prefix, from: client.received.length });
          const left = workplace.left();
          const compared = (steps: readonly Step[]): readonly Step[] =>
            steps.filter((step) => !isList(step) && !onlyAlone(step));
          expect(framesOf(compared(through)), server.name).toEqual(framesOf(compared(direct.steps)));
          expect(left).toEqual(direct.left);
          for (const step of direct.steps.filter((each) => isList(each) && each.asked !== "initialize")) {
            const answer = answerOf(through.find(({ asked }) => asked === step.asked));
            const bare = answer.replaceAll(`"name":"${prefix}`, '"name":"');
            expect(bare, `${server.name} ${step.asked}`).toContain(entriesIn(answerOf(step)));
          }
        }
      },
      300_000,
    );
  }
});
