import type { CanaryPlaces } from "./canaries.js";

/** What the program of {@link attemptsProgram} is told. */
export interface AttemptsOptions extends CanaryPlaces {
  /** Where it may write. */
  readonly ownFolder: string;
  /** Descriptors that it opens at most, and bytes that it writes to one file at most. */
  readonly maxFiles: number;
  readonly maxBytes: number;
}

/** What it tells of each attempt: `ok`, or the system's name of the error. */
export interface AttemptsReport {
  readonly ownWrite: string;
  readonly readOnlyWrite: string;
  /** SHA-256 of what was read, or the error. */
  readonly secret: string;
  readonly loopback: string;
  readonly abstract: string;
  /** Changing the layout of memory is allowed to everybody, and refused by the filter. */
  readonly personality: string;
  /** Kind of namespace to its name, such as `pid:[4026531836]`. */
  readonly namespaces: Readonly<Record<string, string>>;
  /** `CapEff`, `NoNewPrivs`, `Seccomp` and `Seccomp_filters` of `/proc/self/status`. */
  readonly status: Readonly<Record<string, string>>;
  readonly openFiles: number;
  readonly fileBytes: number;
}

/**
 * The attempts, as a program for `node -e` that has no module but Node's own: the same in the sandbox and, to show that they
 * can succeed, outside. A connection that is neither taken nor refused counts as `TIMEOUT`.
 */
export const attemptsProgram = `
"use strict";
const fs = require("node:fs");
const net = require("node:net");
const { createHash } = require("node:crypto");
const { spawnSync } = require("node:child_process");
const asked = JSON.parse(process.argv[1]);
const codeOf = (error) => (error && error.code) || String(error);
const attempt = (act) => { try { return act(); } catch (error) { return codeOf(error); } };
const reach = (options) => new Promise((resolve) => {
  const socket = net.connect(options);
  socket.setTimeout(1000, () => { socket.destroy(); resolve("TIMEOUT"); });
  socket.once("connect", () => { socket.destroy(); resolve("ok"); });
  socket.once("error", (error) => resolve(codeOf(error)));
});
const writeAndRead = (folder) => attempt(() => {
  const file = folder + "/berth-probe-" + process.pid;
  fs.writeFileSync(file, "own", { flag: "wx" });
  const same = fs.readFileSync(file, "utf8") === "own";
  fs.unlinkSync(file);
  return same ? "ok" : "other bytes came back";
});
const personality = () => {
  const done = spawnSync("setarch", ["-R", "true"], { stdio: "ignore" });
  if (done.error) return codeOf(done.error);
  return done.status === 0 ? "ok" : "refused";
};
const countFiles = () => {
  const opened = [];
  try { while (opened.length < asked.maxFiles) opened.push(fs.openSync("/dev/null")); } catch {}
  const highest = opened.length === 0 ? 0 : Math.max(...opened) + 1;
  const least = opened.length === asked.maxFiles ? asked.maxFiles : highest;
  for (const descriptor of opened) fs.closeSync(descriptor);
  return least;
};
const countBytes = () => {
  const file = asked.ownFolder + "/berth-probe-size-" + process.pid;
  const descriptor = fs.openSync(file, "wx");
  try { for (let left = asked.maxBytes; left > 0;) left -= fs.writeSync(descriptor, Buffer.alloc(left)); } catch {}
  const size = fs.fstatSync(descriptor).size;
  fs.closeSync(descriptor);
  fs.unlinkSync(file);
  return size;
};
const namespaces = () => Object.fromEntries(fs.readdirSync("/proc/self/ns")
  .map((kind) => [kind, fs.readlinkSync("/proc/self/ns/" + kind)]));
const shown = ["CapEff", "NoNewPrivs", "Seccomp", "Seccomp_filters"];
const status = () => Object.fromEntries(fs.readFileSync("/proc/self/status", "utf8").split("\\n")
  .map((line) => line.split(/:\\s*/, 2)).filter(([name]) => shown.includes(name)));
(async () => {
  const report = {
    ownWrite: writeAndRead(asked.ownFolder),
    readOnlyWrite: writeAndRead(asked.readOnlyFolder),
    secret: attempt(() => createHash("sha256").update(fs.readFileSync(asked.secretFile)).digest("hex")),
    loopback: await reach({ host: "127.0.0.1", port: asked.port }),
    abstract: await reach({ path: "\\0" + asked.abstractName }),
    personality: personality(),
    namespaces: attempt(namespaces),
    status: attempt(status),
    fileBytes: attempt(countBytes),
    openFiles: attempt(countFiles),
  };
  process.stdout.write(JSON.stringify(report));
})();
`;
