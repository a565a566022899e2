import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Outcome } from "@berth/code-sessions";
import type { LeaseRecord } from "@berth/environment-leases";
import { describe, expect, it } from "vitest";
import { leaseEntry, sessionEntry } from "../src/audit/audit-entries.js";
import { readConfig } from "../src/config/config-read.js";
import { shipyard } from "./shipyard.js";

const readme = readFileSync(fileURLToPath(new URL("../README.md", import.meta.url)), "utf8");

describe("the README", () => {
  it("shows a shipyard.yaml that is the default configuration", () => {
    const [, yaml = ""] = /```yaml\n([\s\S]*?)```/u.exec(readme) ?? [];
    const [shown, usual] = [readConfig(yaml), readConfig("")];
    if (!shown.ok || !usual.ok) throw new Error(JSON.stringify(shown));
    expect(shown.value).toMatchObject(usual.value);
    const commented = readConfig(yaml.replace("# auth:", "auth:"));
    expect(commented.ok).toBe(true);
  });

  it("shows an allow-list that is read", () => {
    const [, hosts = ""] = /or allowlist, with (allowedHosts: .*)/.exec(readme) ?? [];
    const policy = `network: allowlist, ${hosts}`;
    const read = readConfig(`profiles: { python: { template: python3, policy: { ${policy} } } }`);
    expect(read).toMatchObject({ ok: true });
    expect(hosts).toContain("pypi.org");
  });

  it("names each command and option that there is", async () => {
    for (const command of [
      ["serve"],
      ["leases", "list"],
      ["leases", "release"],
      ["leases", "sweep"],
      ["audit", "tail"],
      ["audit", "verify"],
      ["token"],
      ["doctor"],
    ]) {
      const { code, stdout } = await shipyard([...command, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toContain("Examples:");
      const row = readme
        .split("\n")
        .filter((line) => line.startsWith(`| \`${command.join(" ")} `))
        .join("\n");
      for (const [option] of stdout.matchAll(/--(?!help)[a-z]+/g)) expect(row, command.join(" ")).toContain(option);
    }
  });

  it("names each member of the log's entries", () => {
    const lease: LeaseRecord = {
      ...{ id: "l", owner: "o", profile: "p", provider: "q", worker: "w", generation: 1, host: "h", labels: {} },
      ...{ createdAt: 0, expiresAt: 0, ceilingAt: 0, idleMs: 1, lastUsedAt: 0, endedAt: 1, cleanupAttempts: 0 },
      ...{ lastError: "e", state: "active" as const, endReason: "idle" as const },
    };
    const text = { text: "", bytes: 0, truncated: false };
    const outcome: Outcome = {
      ...{ stdout: text, stderr: text, output: text, displays: [], displaysDropped: 0, durationMs: 1, cpuMs: 1 },
      ...{ status: "ok" as const, result: undefined, fault: undefined, reason: undefined, count: 1, spill: undefined },
    };
    const about = { session: "s", owner: "o", lease: "l", call: "l:1" };
    const command = { lease, command: "c", operation: "run", argvDigest: "d", argvCount: 1 } as const;
    const sizes = { durationMs: 1, stdoutBytes: 1, stderrBytes: 1, exitCode: 0, outcome: "exited" };
    const entries = [
      ...(["reserved", "active", "renewed", "releasing", "released", "lost"] as const).map((kind) =>
        leaseEntry({ kind, lease, isolated: true, enforced: [] }),
      ),
      leaseEntry({ kind: "orphan", provider: "p", worker: "w" }),
      leaseEntry({ kind: "command.intent", ...command }),
      leaseEntry({ kind: "command.outcome", ...command, ...sizes }, 1),
      sessionEntry({ kind: "session.started", ...about }),
      sessionEntry({ kind: "session.ended", ...about, end: { reason: "stopped", detail: "", at: 0 } }),
      sessionEntry({ kind: "call.intent", ...about, codeDigest: "d", codeBytes: 1 }),
      sessionEntry({ kind: "call.outcome", ...about, outcome }, 1),
    ];
    const [, table = ""] = /## The audit log\n([\s\S]*?)\n## /u.exec(readme) ?? [];
    const named = new Set([...table.matchAll(/`([A-Za-z.]+)(?:: execute)?`/g)].map(([, name]) => name));
    for (const { type, ...members } of entries) {
      expect([...named]).toContain(type);
      for (const name of Object.keys(members)) expect([...named], type).toContain(name);
    }
  });
});
