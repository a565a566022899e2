import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { serverProgram } from "./answers.js";

/** The interop server over HTTP, for one bearer token. */
export interface Served {
  readonly url: URL;
  readonly headers: { readonly authorization: string };
  readonly token: string;
  stop(): Promise<void>;
}

export async function serveInterop(): Promise<Served> {
  const token = "the-token-of-the-tests";
  const child = spawn(process.execPath, [serverProgram, "http", token], { stdio: ["ignore", "pipe", "ignore"] });
  const exited = once(child, "exit");
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), "line").then(([text]) => text),
    exited.then(() => Promise.reject(new Error("the interop server ended"))),
  ]);
  return {
    url: new URL(String(line)),
    token,
    headers: { authorization: `Bearer ${token}` },
    async stop() {
      child.kill();
      await exited;
    },
  };
}
