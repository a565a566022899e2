import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, it } from "vitest";
import { useAllWith1, useAllWith2 } from "../support/sdk-clients.js";

const program = fileURLToPath(new URL("../programs/sample-server.mjs", import.meta.url));
let child: ChildProcess;
let url: URL;

beforeAll(async () => {
  const started = spawn(process.execPath, [program, "http"], { stdio: ["ignore", "pipe", "ignore"] });
  child = started;
  const [line] = await once(createInterface({ input: started.stdout }), "line");
  url = new URL(String(line));
});
afterAll(async () => {
  child.kill();
  await once(child, "exit");
});

describe("the official SDK's client over HTTP", () => {
  it("of 1.x uses everything that the server offers", () => useAllWith1(new StreamableHTTPClientTransport(url)));

  it.each(["legacy", "auto", { pin: "2026-07-28" }] as const)(
    "of 2.x in mode %j uses everything that the server offers",
    (mode) => useAllWith2(new ModernHttp(url), mode),
  );
});
