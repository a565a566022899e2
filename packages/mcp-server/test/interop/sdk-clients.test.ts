import { StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, it } from "vitest";
import { serverProgram } from "./answers.js";
import { features } from "./features/all.js";
import { connectSdk1 } from "./sdk-1.js";
import { connectSdk2, modes } from "./sdk-2.js";
import { type Served, serveInterop } from "./served.js";
import type { Subject } from "./subject.js";

const launch = { command: process.execPath, args: [serverProgram, "stdio"], stderr: "ignore" as const };
let served: Served;

beforeAll(async () => {
  served = await serveInterop();
});
afterAll(() => served.stop());

const headers = (): { requestInit: RequestInit } => ({ requestInit: { headers: { ...served.headers } } });
const rows: readonly { readonly client: string; connect(): Promise<Subject> }[] = [
  { client: "1.x over stdio", connect: () => connectSdk1(new StdioClientTransport(launch)) },
  {
    client: "1.x over HTTP",
    connect: () => connectSdk1(new StreamableHTTPClientTransport(served.url, headers())),
  },
  ...modes.flatMap((mode) => [
    { client: `2.x, ${JSON.stringify(mode)}, over stdio`, connect: () => connectSdk2(new ModernStdio(launch), mode) },
    {
      client: `2.x, ${JSON.stringify(mode)}, over HTTP`,
      connect: () => connectSdk2(new ModernHttp(served.url, headers()), mode),
    },
  ]),
];

describe.each(rows)("the official SDK's client $client", ({ connect }) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await connect();
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  it.each(features)("$name", ({ run }) => run(subject));
});
