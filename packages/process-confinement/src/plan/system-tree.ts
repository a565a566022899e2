import { existsSync, lstatSync, readlinkSync } from "node:fs";
import type { Mount, TextMount } from "./mounts.js";

/** The user that the command sees itself as. Outside, its files belong to the user of the host. */
export const insideUser = { id: 1000, name: "sandbox", home: "/tmp" } as const;

/** The name of the machine inside. */
export const insideHostname = "sandbox";

/** The system's trees; on most machines all but the first are links into it. */
const systemTrees = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** What of /etc is needed: libraries outside the standard folders, certificates, and what `/usr/bin/awk` links to. */
const systemFiles = [
  "/etc/ld.so.cache",
  "/etc/alternatives",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/pki/tls/certs",
  "/etc/pki/ca-trust/extracted",
  "/etc/ca-certificates/extracted",
];

/** What of this machine's system the sandbox sees, read-only, and the few files that are our own. */
export function readSystemTree(): readonly Mount[] {
  return [...systemTrees.flatMap(readTree), ...systemFiles.filter(existsSync).map(bindAtOwnPath), ...ownFiles];
}

function readTree(path: string): readonly Mount[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return stat.isSymbolicLink() ? [{ kind: "link", target: path, to: readlinkSync(path) }] : [bindAtOwnPath(path)];
}

function bindAtOwnPath(path: string): Mount {
  return { kind: "read", source: path, target: path };
}

const nobody = "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin";

/** Never the host's: they name its users and its neighbours. */
export const ownFiles: readonly TextMount[] = [
  text(
    "/etc/passwd",
    `root:x:0:0:root:/:/usr/sbin/nologin\n${insideUser.name}:x:${insideUser.id}:${insideUser.id}::${insideUser.home}:/bin/sh\n${nobody}\n`,
  ),
  text("/etc/group", `root:x:0:\n${insideUser.name}:x:${insideUser.id}:\nnogroup:x:65534:\n`),
  text("/etc/hosts", `127.0.0.1 localhost ${insideHostname}\n::1 localhost\n`),
  text("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
];

function text(target: string, content: string): TextMount {
  return { kind: "text", target, content };
}
