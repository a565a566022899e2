import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { clearDeadChecks, makeCheckFolder } from "./check-folders.js";
import { removeFolder } from "./copy/remove-folder.js";

/** The private folder of one check, and what attempts aim at; gone when it is closed. */
export interface Bench {
  /** Where the copy goes; not there yet. */
  readonly copy: string;
  /** A new folder for each run. */
  dataFolder(): Promise<string>;
  readonly targets: BenchTargets;
  close(): Promise<void>;
}

/** Secrets of the host, and a listener of its loopback. */
export interface BenchTargets {
  readonly secretsDir: string;
  readonly otherDataDir: string;
  /** What `secret` in both holds. */
  readonly secret: Buffer;
  readonly other: Buffer;
  readonly port: number;
  /** Connections that came so far. */
  arrived(): number;
}

const secretBytes = 32;

export async function openBench(): Promise<Bench> {
  await clearDeadChecks();
  const root = await makeCheckFolder();
  try {
    return await setUp(root);
  } catch (error) {
    await removeFolder(root);
    throw error;
  }
}

async function setUp(root: string): Promise<Bench> {
  const [secretsDir, otherDataDir] = [join(root, "secrets"), join(root, "other")];
  const [secret, other] = [randomBytes(secretBytes), randomBytes(secretBytes)];
  for (const [folder, content] of [
    [secretsDir, secret],
    [otherDataDir, other],
  ] as const) {
    await mkdir(folder, { mode: 0o700 });
    await writeFile(join(folder, "secret"), content, { mode: 0o600 });
  }
  const { server, arrived } = await listen();
  let runs = 0;
  let closing: Promise<void> | undefined;
  return {
    copy: join(root, "plugin"),
    targets: { secretsDir, otherDataDir, secret, other, port: portOf(server), arrived },
    async dataFolder() {
      runs += 1;
      const folder = join(root, `data-${runs}`);
      await mkdir(folder, { mode: 0o700 });
      return folder;
    },
    close: () =>
      (closing ??= (async () => {
        await new Promise((resolve) => server.close(resolve));
        await removeFolder(root);
      })()),
  };
}

/** Ends what comes, and counts it. */
async function listen(): Promise<{ readonly server: Server; readonly arrived: () => number }> {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.on("error", () => {}); // it may be gone already; it is counted
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, arrived: () => count };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
