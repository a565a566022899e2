// What someone else may have put into a log's folder: it is refused or passed over, soon, and never followed.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { partTest } from "../../../fixtures/parts.js";
import { listLogs, verifyLog } from "../src/index.js";
import { recordText } from "../src/lock-record.js";
import { ownIdentity } from "../src/owner.js";
import { nodeCommand, start } from "./processes.js";
import { entriesOf, logFolder, open, rejection, scaledTest, scratch, writeLog } from "./scratch.js";

const owner = ownIdentity("2026-01-02T03:04:05.000Z");
const releasedLock = recordText(owner, false).replace(":0,", ":1,");

const makePipe = (path: string): void => {
  expect(spawnSync("python3", ["-c", "import os, sys; os.mkfifo(sys.argv[1])", path]).status).toBe(0);
};

const makeSocket = (path: string): void => {
  const bind = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])";
  expect(spawnSync("python3", ["-c", bind, path]).status).toBe(0);
};

describe("a lock's name on something that is no lock", () => {
  const plants: { name: string; part?: "python3"; plant: (path: string) => void }[] = [
    { name: "a pipe", part: "python3", plant: makePipe },
    { name: "a socket", part: "python3", plant: makeSocket },
    { name: "a folder", plant: (path) => mkdirSync(path) },
    { name: "a link to a device that never ends", plant: (path) => symlinkSync("/dev/zero", path) },
    { name: "a link to nothing", plant: (path) => symlinkSync("/nonexistent", path) },
    {
      name: "a link to a lock that was released",
      plant: (path) => {
        const elsewhere = join(scratch(), "lock");
        writeFileSync(elsewhere, releasedLock);
        symlinkSync(elsewhere, path);
      },
    },
    {
      name: "a file of a terabyte",
      plant: (path) => {
        writeFileSync(path, releasedLock.trimEnd());
        truncateSync(path, 2 ** 40);
      },
    },
  ];
  for (const { name, part, plant } of plants) {
    const test = part === undefined ? it : partTest(part);
    test(`is not waited for, not followed and not read at length: ${name}`, async () => {
      const directory = scratch();
      plant(join(directory, "lock-1"));
      expect(await rejection(open(directory, { logId: "log" }))).toMatchObject({ code: "LOCKED", owner: undefined });
    });
  }
});

it("an owner's names are escaped in the message, so that a lock cannot write to a terminal", async () => {
  const directory = scratch();
  const host = "host\u001b[2J\n\u009b\u202e😂";
  writeFileSync(join(directory, "lock-1"), recordText({ ...owner, host, pidNamespace: "pid:[1]" }, false));
  const error = await rejection(open(directory, { logId: "log" }));
  expect(error).toMatchObject({ code: "LOCKED", owner: { host } });
  expect(error).toHaveProperty("message", expect.stringMatching(/^[ -~]+$/));
  expect(error).toHaveProperty("message", expect.stringContaining("host\\u{1b}[2J\\u{a}\\u{9b}\\u{202e}\\u{1f602}"));
});

it("more lock numbers than a call may have arguments are no obstacle", scaledTest, async () => {
  const directory = logFolder();
  mkdirSync(directory);
  const count = scaledCount("locks in one folder", 130_000);
  for (let number = 1; number <= count; number += 1) writeFileSync(join(directory, `lock-${number}`), releasedLock);
  await using chain = await open(directory);
  expect(chain.head.sequence).toBe(0);
  expect(readdirSync(directory)).toHaveLength(18);
});

it("names that only look like segments and locks are no part of the log", async () => {
  const directory = await writeLog([{ type: "a" }]);
  for (const name of [
    "0000000000000002.jsonl\n",
    "\n0000000000000002.jsonl",
    "lock-9\n",
    "lock-09",
    "lock-1e9",
    "\u001b[2J",
  ])
    writeFileSync(join(directory, name), "x");
  await using chain = await open(directory);
  await chain.append({ type: "b" });
  expect(await verifyLog(directory, { strict: true })).toMatchObject({ ok: true, entries: 2, segments: 1 });
});

describe("a segment's name on something that is no segment", () => {
  const second = "0000000000000002.jsonl";

  it.each([
    { name: "a folder", plant: (path: string) => mkdirSync(path) },
    { name: "a link to a device", plant: (path: string) => symlinkSync("/dev/zero", path) },
    { name: "a link to nothing", plant: (path: string) => symlinkSync("/nonexistent", path) },
  ])("is refused by the verifier, the reader and the writer: $name", async ({ plant }) => {
    const directory = await writeLog([{ type: "a" }]);
    plant(join(directory, second));
    expect((await verifyLog(directory)).problems).toMatchObject([{ code: "SEGMENT_REFUSED", segment: second }]);
    expect(await rejection(entriesOf(directory))).toMatchObject({ code: "READ_FAILED" });
    expect(await rejection(open(directory))).toMatchObject({ code: "LOG_DAMAGED", place: { segment: second } });
    expect(await listLogs(dirname(directory))).toMatchObject([{ id: "log" }]);
  });

  it("is damage to the reader too when it is an empty file before another segment", async () => {
    const directory = await writeLog([{ type: "a" }]);
    for (const name of [second, "0000000000000003.jsonl"]) writeFileSync(join(directory, name), "");
    expect((await verifyLog(directory)).problems).toMatchObject([{ code: "BEGIN_MISSING", segment: second }]);
    expect(await rejection(entriesOf(directory))).toMatchObject({ code: "LOG_DAMAGED", place: { segment: second } });
  });
});

describe("a file that may not be read", () => {
  for (const unreadable of ["0000000000000001.jsonl", "lock-1"]) {
    partTest("ordinary-user", "util-linux")(
      `ends the opening with the system's error, and is called neither damaged nor free: ${unreadable}`,
      async () => {
        const directory = await writeLog([{ type: "a" }]);
        const mine = [dirname(directory), directory, ...readdirSync(directory).map((name) => join(directory, name))];
        for (const path of mine) chownSync(path, 65_534, 65_534);
        chmodSync(join(directory, unreadable), 0);
        const user = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
        const program = start("setpriv", [...user, ...nodeCommand("writer.mjs", [directory, "batch", "1"])]);
        await program.ended;
        const error = JSON.parse(program.lines[0]?.slice("error ".length) ?? "");
        expect(error).toMatchObject({ code: "OPEN_FAILED", cause: "EACCES" });
        expect(error.message).toContain(unreadable);
        chmodSync(join(directory, unreadable), 0o600);
        await using chain = await open(directory);
        expect(chain.head.sequence).toBe(1);
      },
    );
  }
});
