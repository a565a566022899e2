import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ListenOptions } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scratchFolder } from "./scratch.js";

/** Things outside that nothing inside may reach, and that are there and can be reached from here at the same moment. */
export interface Canaries extends AsyncDisposable {
  /** What a program outside needs to reach them, and one inside to try. */
  readonly places: CanaryPlaces;
  /** SHA-256 of the secret, which itself is told to nobody. */
  readonly secretHash: string;
  /** Connections that the listeners have taken so far. */
  accepted(): Accepted;
}

export interface CanaryPlaces {
  /** A file with a secret. */
  readonly secretFile: string;
  /** A folder that may be written from outside; the trial binds it read-only. */
  readonly readOnlyFolder: string;
  /** A listener on this machine's loopback. */
  readonly port: number;
  /** A listener in the abstract namespace of unix sockets, which no file protects. */
  readonly abstractName: string;
}

export interface Accepted {
  readonly loopback: number;
  readonly abstract: number;
}

export async function plantCanaries(): Promise<Canaries> {
  const folder = scratchFolder(secretRoot(), "canary");
  const secret = randomBytes(32);
  const secretFile = join(folder, "secret");
  writeFileSync(secretFile, secret, { mode: 0o600 });
  const readOnlyFolder = join(folder, "read-only");
  mkdirSync(readOnlyFolder);
  const abstractName = `berth-canary-${randomBytes(8).toString("hex")}`;
  const [loopback, abstract] = await Promise.all([
    listen({ host: "127.0.0.1", port: 0 }),
    listen({ path: `\0${abstractName}` }),
  ]);
  return {
    places: { secretFile, readOnlyFolder, port: loopback.port, abstractName },
    secretHash: createHash("sha256").update(secret).digest("hex"),
    accepted: () => ({ loopback: loopback.accepted(), abstract: abstract.accepted() }),
    [Symbol.asyncDispose]: async () => {
      rmSync(folder, { recursive: true, force: true });
      await Promise.all([loopback.close(), abstract.close()]);
    },
  };
}

// Not in /tmp where there is another place: inside, the private /tmp would hide it whatever else is bound.
function secretRoot(): string {
  try {
    accessSync("/var/tmp", constants.W_OK);
    return "/var/tmp";
  } catch {
    return tmpdir();
  }
}

interface Listener {
  readonly port: number;
  accepted(): number;
  close(): Promise<void>;
}

async function listen(options: ListenOptions): Promise<Listener> {
  let count = 0;
  const server = createServer((socket) => {
    count++;
    socket.on("error", () => {}).destroy();
  });
  server.listen(options);
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    accepted: () => count,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
