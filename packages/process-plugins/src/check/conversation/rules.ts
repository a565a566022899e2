import { mcpRevision, versionKey } from "../../pipe/gate.js";
import {
  asBadState,
  asOtherProtocol,
  asOtherRevision,
  asParseFault,
  asRequestFault,
  type Expectation,
} from "./expectations.js";
import { checkHost, checkMeta, withMeta } from "./host-words.js";
import { asking, beginScript, createParams, type Problems, type ScriptSetting } from "./script.js";

/** A protocol that there will not be for long. */
const otherProtocol = 99;
const otherRevision = "1999-01-01";
const unreadableLine = '{"jsonrpc":';
const noRequest = '{"no":"request"}';

/** In a process of its own: after it a plugin may end. @throws as `Conversation.ask`. */
export async function askOtherProtocol(setting: ScriptSetting): Promise<Problems> {
  const problems: Problems = [];
  const what = `create with protocol ${otherProtocol}`;
  await asking(setting, problems)("ave/instance/create", createParams(setting, otherProtocol), asOtherProtocol, what);
  return problems;
}

/**
 * What no lawful host asks: lines that cannot be read, steps that the state does not have, other revisions. In a process of its own, so that the
 * transcript of a plugin is that of a lawful host, and no part of it. @throws as `Conversation.ask`.
 */
export async function askUnlawful(setting: ScriptSetting): Promise<Problems> {
  const problems: Problems = [];
  const ask = asking(setting, problems);
  await askLine(setting, problems, unreadableLine, "a line that is not JSON", asParseFault);
  await askLine(setting, problems, noRequest, "a line that is no request", asRequestFault);
  const began = await beginScript(setting, async () => {
    await ask("ave/instance/create", createParams(setting), asBadState("created"), "create a second time");
  });
  if (typeof began === "string") return [...problems, began];
  await ask("ave/instance/start", {}, asBadState("running"), "start a second time");
  if (!began.mcp) return problems;
  const old = withMeta({ protocolVersion: "2025-11-25", capabilities: {}, clientInfo: checkHost });
  await ask("initialize", old, asOtherRevision, "initialize");
  const foreign = { _meta: { ...checkMeta, [versionKey]: otherRevision } };
  await ask("tools/list", foreign, asOtherRevision, `tools/list of another revision than ${mcpRevision}`);
  return problems;
}

async function askLine(
  { conversation, timeouts }: ScriptSetting,
  problems: Problems,
  line: string,
  what: string,
  expected: Expectation,
): Promise<void> {
  const answer = await conversation.askUnreadable(line, what, timeouts.healthMs);
  const wrong = expected(answer);
  if (wrong !== undefined) problems.push(`${what} ${wrong}`);
}
