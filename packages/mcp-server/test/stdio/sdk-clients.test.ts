import { fileURLToPath } from "node:url";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, it } from "vitest";
import { useAllWith1, useAllWith2 } from "../support/sdk-clients.js";

const program = fileURLToPath(new URL("../programs/sample-server.mjs", import.meta.url));
const launch = { command: process.execPath, args: [program], stderr: "ignore" as const };

describe("the official SDK's client over stdio", () => {
  it("of 1.x uses everything that the server offers", () => useAllWith1(new StdioClientTransport(launch)));

  it.each(["legacy", "auto", { pin: "2026-07-28" }] as const)(
    "of 2.x in mode %j uses everything that the server offers",
    (mode) => useAllWith2(new ModernStdio(launch), mode),
  );
});
