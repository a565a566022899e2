import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { egressPort } from "../src/index.js";
import { openSandboxOn } from "../src/open-sandbox.js";
import { thisHost } from "../src/start/host.js";
import { readAll, sandboxesOfThisFile, uniqueName } from "./sandboxes.js";

const sandboxes = sandboxesOfThisFile();
const itWithPython = partTest("bubblewrap", "python3");
const scratch = mkdtempSync(join(tmpdir(), "berth-network-"));
const socket = join(scratch, "egress.sock");
let proxy: Server;
beforeAll(async () => {
  // What a proxy is asked for: the whole address.
  proxy = createServer((request, response) => response.end(`asked for ${request.url}`));
  await new Promise<void>((resolve) => void proxy.listen(socket, resolve));
});
afterAll(() => {
  proxy.closeAllConnections();
  proxy.close();
  rmSync(scratch, { recursive: true, force: true });
});

const fetching = `
import urllib.request
for path in "one", "two":
    print(urllib.request.urlopen("http://example.com/" + path, timeout=5).read().decode(), flush=True)
`;
const fetched = "asked for http://example.com/one\nasked for http://example.com/two\n";

describe("an allowlist", () => {
  partTest(
    "bubblewrap",
    "python3",
    "socat",
  )("is reached by a client that knows proxy variables, at its first connect, through socat", async () => {
    const outcome = await sandboxes.run({ python: fetching, policy: { network: { mode: "allowlist", socket } } });
    expect(outcome).toMatchObject({ stdout: fetched, stderr: "" });
  });

  itWithPython("is reached through a forwarder in Python where there is no socat", async () => {
    const host = thisHost();
    const findTool = (name: string): string | undefined => (name === "socat" ? undefined : host.findTool(name));
    const sandbox = await openSandboxOn(
      { ...host, findTool },
      {
        name: uniqueName(),
        policy: { network: { mode: "allowlist", socket, forwarder: "helper" } },
        file: "/usr/bin/python3",
        args: ["-I", "-c", fetching],
        env: {},
      },
    );
    expect(await Promise.all([readAll(sandbox.stdout), readAll(sandbox.stderr)])).toEqual([fetched, ""]);
    await sandbox.close();
  });

  itWithPython("has the socket bound, and no forwarder, when the command forwards itself", async () => {
    const python = `
import os, socket
s = socket.socket(socket.AF_UNIX)
s.connect("/run/berth/egress.sock")
s.sendall(b"GET http://x.example/ HTTP/1.0\\r\\n\\r\\n")
print(s.makefile().read().splitlines()[-1], os.environ["https_proxy"], len(os.listdir("/run/berth")))
t = socket.socket()
print(t.connect_ex(("127.0.0.1", ${egressPort})))
`;
    const { stdout, stderr } = await sandboxes.run({
      python,
      policy: { network: { mode: "allowlist", socket, forwarder: "command" } },
    });
    expect([stdout, stderr]).toEqual([`asked for http://x.example/ http://127.0.0.1:${egressPort} 1\n111\n`, ""]);
  });

  itWithPython("is all there is: no other address, no name", async () => {
    const python = `
import socket
for target in ("1.1.1.1", 443), ("192.168.0.1", 80), ("example.com", 80):
    try: socket.create_connection(target, 2); print("reached")
    except OSError as error: print(type(error).__name__)
`;
    const { stdout } = await sandboxes.run({ python, policy: { network: { mode: "allowlist", socket } } });
    expect(stdout).toBe("OSError\nOSError\ngaierror\n");
  });

  itWithPython("helper also serves a command that speaks the handshake itself", async () => {
    const agent = `import os
os.write(4, b"r\\n"); assert os.read(3, 3) == b"go\\n"; os.closerange(3, 256)
${fetching}`;
    const policy = { network: { mode: "allowlist", socket } } as const;
    const { stdout, stderr } = await sandboxes.run({ python: agent, handshake: "command", asPid1: true, policy });
    expect([stdout, stderr]).toEqual([fetched, ""]);
  });

  itWithPython("is not there without one: neither socket nor variables", async () => {
    const { stdout } = await sandboxes.run({ script: "env | grep -ci proxy; ls /run 2>/dev/null; echo end" });
    expect(stdout).toBe("0\nend\n");
  });
});
