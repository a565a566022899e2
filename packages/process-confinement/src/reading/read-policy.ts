import { realpathSync, statSync } from "node:fs";
import { ConfinementError } from "../errors.js";
import type { BoundPath, ConfinementPolicy, NetworkPolicy, Workspace } from "../policy.js";
import type { BoundTerms, PolicyTerms, ProxyTerms, WorkspaceTerms } from "./policy-terms.js";
import { readLimits } from "./read-limits.js";
import { createReader, type ValueReader } from "./read-values.js";

const mib = 2 ** 20;
const gib = 2 ** 30;
const workspaceRange = { least: mib, most: 64 * gib };
const tmpRange = { least: 64 * 1024, most: 64 * gib };
const heldRange = { least: mib, most: 2 ** 40 };
/** Every mount costs a fifth of a millisecond at each start; whole trees cost no more than files. */
const maxBinds = 256;

/**
 * Checks a policy and resolves its sources, once.
 * @throws {ConfinementError} `POLICY_INVALID` and `PATH_NOT_FOUND`, with the member's path as `field`.
 */
export function readPolicy(policy: ConfinementPolicy): PolicyTerms {
  const reader = createReader("POLICY_INVALID");
  reader.object("policy", policy);
  reader.refuseUnknown("policy", policy, policyMembers);
  const workspace = readWorkspace(reader, policy.workspace);
  const noGrowth = reader.flag("noGrowth", policy.noGrowth ?? false);
  const limits = readLimits(reader, noGrowth ? { ...policy.limits, fileBytes: 0 } : policy.limits);
  // A forwarder inside has to bind a port, and the filter cannot tell a port from a path.
  if (noGrowth && policy.network?.mode === "allowlist") reader.fail("network.mode", "none with noGrowth", "allowlist");
  if (limits.diskBytes !== undefined && policy.workspace?.kind !== "folder")
    reader.fail("limits.diskBytes", "left out: it bounds a workspace of kind folder", limits.diskBytes);
  return {
    binds: [
      ...readBinds(reader, "readOnly", "read", policy.readOnly),
      ...workspace.binds,
      ...readBinds(reader, "readWrite", "write", policy.readWrite),
    ],
    workspace: workspace.terms,
    tmpBytes: policy.tmpBytes === undefined ? 64 * mib : reader.integer("tmpBytes", policy.tmpBytes, tmpRange),
    egress: readNetwork(reader, policy.network),
    limits,
    noGrowth,
  };
}

const policyMembers = ["readOnly", "workspace", "readWrite", "tmpBytes", "network", "limits", "noGrowth"];

function readBinds(
  reader: ValueReader,
  member: string,
  access: "read" | "write",
  paths: readonly BoundPath[] | undefined,
): readonly BoundTerms[] {
  if (paths === undefined) return [];
  if (!Array.isArray(paths) || paths.length > maxBinds)
    return reader.fail(member, `an array of at most ${maxBinds} paths`, paths);
  return paths.map((path: BoundPath, index) => {
    const field = `${member}[${index}]`;
    reader.object(field, path);
    reader.refuseUnknown(field, path, ["source", "target", "maxBytes"]);
    if (path.maxBytes !== undefined && access === "read")
      reader.fail(`${field}.maxBytes`, "left out: nothing can be written there", path.maxBytes);
    const maxBytes =
      path.maxBytes === undefined ? undefined : reader.integer(`${field}.maxBytes`, path.maxBytes, heldRange);
    return { ...readBound(reader, field, path), access, maxBytes };
  });
}

function readBound(
  reader: ValueReader,
  field: string,
  { source, target }: { readonly source: string; readonly target?: string | undefined },
): { readonly field: string; readonly source: string; readonly target: string } {
  const named = reader.path(`${field}.source`, source);
  const real = resolveSource(`${field}.source`, named);
  if (forbiddenSources.some((top) => real === top || (top !== "/" && real.startsWith(`${top}/`))))
    reader.fail(`${field}.source`, "a path outside of /, /proc, /sys and /dev", source);
  return { field, source: real, target: target === undefined ? named : reader.path(`${field}.target`, target) };
}

/** With them, nothing would be confined: all files, other processes' roots, the machine's devices and settings. */
const forbiddenSources = ["/", "/proc", "/sys", "/dev"];

function resolveSource(field: string, path: string): string {
  try {
    return realpathSync.native(path);
  } catch (cause) {
    throw new ConfinementError("PATH_NOT_FOUND", `${field}: ${path} cannot be resolved`, { field, cause });
  }
}

function readWorkspace(
  reader: ValueReader,
  workspace: Workspace | undefined,
): { readonly terms: WorkspaceTerms | undefined; readonly binds: readonly BoundTerms[] } {
  if (workspace === undefined) return { terms: undefined, binds: [] };
  reader.object("workspace", workspace);
  const target = workspace.target === undefined ? "/workspace" : reader.path("workspace.target", workspace.target);
  if (reader.choice("workspace.kind", workspace.kind, ["folder", "memory"]) === "memory") {
    reader.refuseUnknown("workspace", workspace, ["kind", "maxBytes", "target"]);
    const bytes = workspace.kind === "memory" ? workspace.maxBytes : undefined;
    const memoryBytes = reader.integer("workspace.maxBytes", bytes, workspaceRange);
    return { terms: { target, memoryBytes, folder: undefined }, binds: [] };
  }
  reader.refuseUnknown("workspace", workspace, ["kind", "source", "target"]);
  const source = workspace.kind === "folder" ? workspace.source : "";
  const bound = readBound(reader, "workspace", { source, target });
  if (!statSync(bound.source).isDirectory()) reader.fail("workspace.source", "a folder", source);
  const terms = { target, memoryBytes: undefined, folder: bound.source };
  return { terms, binds: [{ ...bound, access: "write", maxBytes: undefined }] };
}

function readNetwork(reader: ValueReader, network: NetworkPolicy | undefined): ProxyTerms | undefined {
  if (network === undefined) return undefined;
  reader.object("network", network);
  if (reader.choice("network.mode", network.mode, ["none", "allowlist"]) === "none" || network.mode === "none") {
    reader.refuseUnknown("network", network, ["mode"]);
    return undefined;
  }
  reader.refuseUnknown("network", network, ["mode", "socket", "forwarder"]);
  const socket = resolveSource("network.socket", reader.path("network.socket", network.socket));
  if (!statSync(socket).isSocket()) reader.fail("network.socket", "a unix socket", network.socket);
  const choices = ["command", "helper"] as const;
  const forwarder = network.forwarder ?? "helper";
  return { socket, forwarder: reader.choice("network.forwarder", forwarder, choices) };
}
