import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inspect } from "node:util";
import { describe, expect } from "vitest";
import { partTest, pythonOf } from "../../../../fixtures/parts.js";
import type { PluginEntry } from "../../src/executor/plugin-config.js";
import type { RunningPlugin } from "../../src/executor/plugin-kind.js";
import type { PluginEnvironment } from "../../src/isolated-venv/isolated-venv-options.js";
import { callOf, entryOf, makeCwd, type OpenedOptions, openPlugin } from "./plugins.js";

/** Real environments with the framework from PyPI. */
type Version = "cpex-0.1.3" | "cpex-0.1.4";

const environmentOf = (version: Version): PluginEnvironment => {
  const python = pythonOf(version);
  return { path: dirname(dirname(python)), python, close: async () => undefined };
};

const limits = { startTimeoutMs: 120_000, callTimeoutMs: 30_000 };

/** A plugin of our own over the real framework's base class. */
const source = `
import os, sys, time
from cpex.framework import Plugin, PluginConfig, PluginViolation
from cpex.framework import ToolPreInvokePayload, ToolPreInvokeResult, ToolPostInvokePayload, ToolPostInvokeResult

class Probe(Plugin):
    def __init__(self, config):
        super().__init__(config)
        self.calls = 0

    async def tool_pre_invoke(self, payload, context):
        self.calls += 1
        args = payload["args"] if isinstance(payload, dict) else payload.args
        name = payload["name"] if isinstance(payload, dict) else payload.name
        what = args.get("what")
        if what == "deny":
            violation = PluginViolation(reason="no", description="not this", code="NO", details={"a": 1})
            return ToolPreInvokeResult(continue_processing=False, violation=violation)
        if what == "bare":
            return ToolPreInvokeResult(continue_processing=False)
        if what == "none":
            return None
        if what == "raise":
            raise ValueError("it broke")
        if what == "print":
            print("a line")
            sys.stdout.write("and a start {")
        if what == "exit":
            os._exit(6)
        if what == "hang":
            time.sleep(3600)
        if what == "huge":
            return ToolPreInvokeResult(metadata={"fill": "x" * 20_000})
        if what == "modify":
            changed = ToolPreInvokePayload(name=name, args={"changed": True})
            return ToolPreInvokeResult(modified_payload=changed)
        return ToolPreInvokeResult(metadata={"hook": "pre", "calls": self.calls})

    async def tool_post_invoke(self, payload, context):
        return ToolPostInvokeResult(metadata={"hook": "post"})

class Labels(Plugin):
    async def tool_pre_invoke(self, payload, context, extensions):
        labels = sorted(extensions.security.labels) if extensions and extensions.security else None
        headers = dict(extensions.http.headers) if extensions and extensions.http else None
        return ToolPreInvokeResult(metadata={"labels": labels, "headers": headers})

class Talker(Plugin):
    """Says its token in each way that a careless plugin has."""

    async def identity_resolve(self, payload, context):
        import logging, traceback, warnings
        token = payload.raw_token.get_secret_value()
        log = logging.getLogger("probe.talker")
        log.warning("with arguments %s %r", token, [token])
        log.warning("with a dict %(token)s", {"token": token})
        try:
            raise RuntimeError("inner " + token)
        except RuntimeError:
            log.exception("with a traceback")
            traceback.print_exc()
        apart = logging.getLogger("probe.apart")
        apart.propagate = False
        apart.addHandler(logging.StreamHandler(sys.stderr))
        apart.error("on its own %s", token)
        warnings.warn("a warning " + token)
        sys.stdout.write("without a line end " + token)
        os.write(1, ("past its streams " + token + "\\n").encode())
        os.write(2, ("past its streams " + token + "\\n").encode())
        raise ValueError("outer " + token) from KeyError(token)

class Identity(Plugin):
    async def identity_resolve(self, payload, context):
        from cpex.framework.hooks.identity import IdentityResult
        from cpex.framework.models import PluginResult
        token = payload.raw_token.get_secret_value()
        print("the token is", token)
        print("the token is", token, file=sys.stderr)
        if payload.client_host == "raise":
            raise ValueError("bad " + token)
        result = IdentityResult(rejected=False, raw_claims={"length": len(token)})
        return PluginResult(continue_processing=True, modified_payload=result)
`;

function openReal(
  version: Version,
  className: string,
  more: Partial<PluginEntry> = {},
  { onLog, importsFirst }: Pick<OpenedOptions, "onLog" | "importsFirst"> = {},
): Promise<RunningPlugin> {
  const cwd = makeCwd();
  mkdirSync(join(cwd, "plugins", "probe"));
  writeFileSync(join(cwd, "plugins", "probe", "__init__.py"), source);
  const config = { class_name: className, max_content_size: 15_000, ...more.config };
  return openPlugin(entryOf("", { hooks: ["tool_pre_invoke", "tool_post_invoke"], ...more, config }), {
    cwd,
    environment: environmentOf(version),
    limits,
    importsFirst,
    ...(onLog === undefined ? {} : { onLog }),
  });
}

const ask = (what: string) => callOf({ name: "t", args: { what } });

describe.each<{ version: Version }>([{ version: "cpex-0.1.4" }, { version: "cpex-0.1.3" }])(
  "the worker of $version",
  ({ version }) => {
    const test = partTest(version);
    test("imports a class first in its own way, and says what cannot be imported", async () => {
      const plugin = await openReal(version, "probe.Probe", {}, { importsFirst: true });
      expect(await plugin.call(ask("allow"), {})).toMatchObject({ continueProcessing: true });
      const missing = openReal(version, "probe.Prob", {}, { importsFirst: true });
      await expect(missing).rejects.toThrow("import of `probe` failed: it has no class `Prob`");
      const blocked = openReal(version, "subprocess.Popen", {}, { importsFirst: true });
      await expect(blocked).rejects.toThrow("import of `subprocess` failed: Plugin module 'subprocess'");
    }, 180_000);

    test("allows, denies, denies bare, changes, raises, returns nothing, prints, and goes on", async () => {
      const plugin = await openReal(version, "probe.Probe");
      expect(await plugin.call(ask("allow"), {})).toMatchObject({
        continueProcessing: true,
        metadata: { hook: "pre", calls: 1 },
      });
      expect(await plugin.call(ask("deny"), {})).toMatchObject({
        continueProcessing: false,
        violation: { reason: "no", code: "NO", description: "not this", details: { a: 1 } },
      });
      expect(await plugin.call(ask("bare"), {})).toMatchObject({ continueProcessing: false });
      expect(await plugin.call(ask("modify"), {})).toMatchObject({ modifiedPayload: { args: { changed: true } } });
      await expect(plugin.call(ask("raise"), {})).rejects.toMatchObject({ code: "WORKER_ERROR", message: /it broke/u });
      await expect(plugin.call(ask("none"), {})).rejects.toMatchObject({ code: expect.stringMatching(/ERROR$/u) });
      expect(await plugin.call(ask("print"), {})).toMatchObject({ continueProcessing: true });
      expect(await plugin.call(ask("allow"), {})).toMatchObject({ metadata: { hook: "pre", calls: 8 } });
    }, 180_000);

    test("runs the hook that was asked for, whichever was first", async () => {
      const plugin = await openReal(version, "probe.Probe");
      const post = callOf({ name: "t", result: {} }, { hook: "tool_post_invoke" });
      expect(await plugin.call(ask("allow"), {})).toMatchObject({ metadata: { hook: "pre" } });
      expect(await plugin.call(post, {})).toMatchObject({ metadata: { hook: "post" } });
      expect(await plugin.call(ask("allow"), {})).toMatchObject({ metadata: { hook: "pre" } });
    }, 180_000);

    test("is held to the sizes, and survives a death", async () => {
      const plugin = await openReal(version, "probe.Probe");
      await expect(plugin.call(ask("huge"), {})).rejects.toMatchObject({
        code: expect.stringMatching(/^(RESPONSE_TOO_LARGE|WORKER_ERROR)$/u),
      });
      await expect(plugin.call(ask("x".repeat(20_000)), {})).rejects.toMatchObject({ code: "TASK_TOO_LARGE" });
      await expect(plugin.call(ask("exit"), {})).rejects.toMatchObject({
        code: "WORKER_DIED",
        details: { exitCode: 6 },
      });
      expect(await plugin.call(ask("allow"), {})).toMatchObject({ metadata: { calls: 1 } });
    }, 180_000);

    test("says clearly that a class or a hook is not there", async () => {
      const missing = await openReal(version, "nowhere.Plugin");
      await expect(missing.call(ask("allow"), {})).rejects.toMatchObject({ code: "WORKER_ERROR", message: /nowhere/u });
      const forbidden = await openReal(version, "subprocess.Popen");
      await expect(forbidden.call(ask("allow"), {})).rejects.toMatchObject({ code: "WORKER_ERROR" });
    }, 180_000);
  },
);

const testCurrent = partTest("cpex-0.1.4");

describe("the worker of cpex-0.1.4 in particular", () => {
  testCurrent(
    "rejects a cmf hook cleanly",
    async () => {
      const plugin = await openReal("cpex-0.1.4", "probe.Probe");
      const call = callOf({ message: {} }, { hook: "cmf.tool_pre_invoke" });
      await expect(plugin.call(call, {})).rejects.toMatchObject({
        code: "WORKER_ERROR",
        message: /cmf.tool_pre_invoke/u,
      });
    },
    120_000,
  );

  testCurrent(
    "a token reaches the plugin and no log, also when it prints and raises with it",
    async () => {
      const token = "eyJhbGciOi.token-of-ann.0123456789abcdef";
      const log: string[] = [];
      const entry = { hooks: ["identity_resolve"], capabilities: ["read_inbound_credentials"] };
      const plugin = await openReal("cpex-0.1.4", "probe.Identity", entry, { onLog: (line) => void log.push(line) });
      const credential = { inbound: { token, kind: "jwt", sourceHeader: "Authorization" } } as const;
      const resolve = (host: string) =>
        plugin.call(
          callOf(
            { raw_token: "**********", source: "bearer", headers: {}, client_host: host },
            { hook: "identity_resolve", credential },
          ),
          {},
        );
      expect(await resolve("here")).toMatchObject({ modifiedPayload: { raw_claims: { length: token.length } } });
      const failure: unknown = await resolve("raise").catch((error: unknown) => error);
      expect(String(failure)).toContain("bad **********");
      await plugin.close();
      expect(log.join("\n")).not.toContain(token);
      expect(log.join("\n")).toContain("the token is **********");
    },
    120_000,
  );

  testCurrent(
    "a token is in no line and no error, however its plugin says it",
    async () => {
      const token = "eyJhbGciOi.token-of-ann.0123456789abcdef";
      const log: string[] = [];
      const entry = { hooks: ["identity_resolve"], capabilities: ["read_inbound_credentials"] };
      const plugin = await openReal("cpex-0.1.4", "probe.Talker", entry, { onLog: (line) => void log.push(line) });
      const credential = { inbound: { token, kind: "jwt", sourceHeader: "Authorization" } } as const;
      const payload = { raw_token: "**********", source: "bearer", headers: {} };
      const failure: unknown = await plugin
        .call(callOf(payload, { hook: "identity_resolve", credential }), {})
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "WORKER_ERROR", message: /outer \*{10}/u });
      await plugin.close();
      const said = [...log, inspect(failure, { depth: 9, showHidden: true })].join("\n");
      expect(said).not.toContain(token);
      for (const words of ["with arguments", "with a dict", "with a traceback", "on its own", "past its streams"]) {
        expect(said, "the control: it was said").toContain(words);
      }
    },
    120_000,
  );

  testCurrent(
    "a hook of two parameters runs beside extensions, and a slot that nobody knows costs no other",
    async () => {
      const extensions = { security: { labels: ["PII"] }, brand_new: { a: 1 } };
      const call = callOf({ name: "t", args: {} }, { extensions });
      const entry = { hooks: ["tool_pre_invoke"], capabilities: ["read_labels"] };
      const two = await openReal("cpex-0.1.4", "probe.Probe", entry);
      expect(await two.call(call, {})).toMatchObject({ metadata: { hook: "pre" } });
      const three = await openReal("cpex-0.1.4", "probe.Labels", entry);
      expect(await three.call(call, {})).toMatchObject({ metadata: { labels: ["PII"] } });
    },
    120_000,
  );

  testCurrent(
    "extensions reach a hook of three parameters, as its capabilities open them",
    async () => {
      const entry = { hooks: ["tool_pre_invoke"], capabilities: ["read_labels", "read_headers"] };
      const plugin = await openReal("cpex-0.1.4", "probe.Labels", entry);
      const extensions = {
        security: { labels: ["PII"] },
        http: { headers: { "x-a": "1" }, request_headers: { "x-a": "1" } },
      };
      expect(await plugin.call(callOf({ name: "t", args: {} }, { extensions }), {})).toMatchObject({
        metadata: { labels: ["PII"], headers: { "x-a": "1" } },
      });
    },
    120_000,
  );
});

describe("published plugins, unchanged", () => {
  testCurrent(
    "cpex-pii-filter masks what it finds",
    async () => {
      const plugin = await openReal("cpex-0.1.4", "cpex_pii_filter.pii_filter.PIIFilterPlugin", {
        config: { max_content_size: 1_000_000 },
      });
      const reply = await plugin.call(callOf({ name: "t", args: { text: "ssn 123-45-6789, ann@example.org" } }), {});
      expect(JSON.stringify(reply.modifiedPayload)).toContain("[REDACTED]");
      expect(JSON.stringify(reply.modifiedPayload)).not.toContain("ann@example.org");
    },
    120_000,
  );

  testCurrent(
    "cpex-secrets-detection denies a secret",
    async () => {
      const plugin = await openReal("cpex-0.1.4", "cpex_secrets_detection.secrets_detection.SecretsDetectionPlugin", {
        config: { max_content_size: 1_000_000 },
      });
      const secret = ["AKIA", "FAKEFAKE12345678"].join("");
      const reply = await plugin.call(callOf({ name: "t", args: { text: secret } }), {});
      expect(reply).toMatchObject({ continueProcessing: false, violation: { code: expect.any(String) } });
      expect(await plugin.call(callOf({ name: "t", args: { text: "hello" } }), {})).toMatchObject({
        continueProcessing: true,
      });
    },
    120_000,
  );

  testCurrent(
    "cpex-output-length-guard cuts a long answer",
    async () => {
      const plugin = await openReal(
        "cpex-0.1.4",
        "cpex_output_length_guard.output_length_guard.OutputLengthGuardPlugin",
        {
          hooks: ["tool_post_invoke"],
          config: { max_content_size: 1_000_000, max_chars: 100 },
        },
      );
      const payload = { name: "t", result: { content: [{ type: "text", text: "a".repeat(5_000) }] } };
      const reply = await plugin.call(callOf(payload, { hook: "tool_post_invoke" }), {});
      expect(JSON.stringify(reply.modifiedPayload).length).toBeLessThan(1_000);
    },
    120_000,
  );
});
