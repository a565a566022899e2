import assert from "node:assert/strict";
import type { ProviderCheck } from "./provider-contract.js";
import { refused, rejectsWith, soon } from "./provider-subject.js";

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const floodBytes = 3 * 2 ** 20 + 7;

/** Commands that run to their end. */
export const runChecks: Readonly<Record<string, ProviderCheck>> = {
  async "gives status and both outputs of a command"({ create }) {
    const { environment, programs } = await create();
    const result = await soon(environment.run(programs.print("out ü", "err")), "a command");
    assert.deepEqual([result.exitCode, result.signal], [0, undefined]);
    assert.deepEqual([text(result.stdout), text(result.stderr)], ["out ü", "err"]);
    assert.deepEqual([result.stdoutBytes, result.stderrBytes], [6, 3]);
    assert.ok(result.durationMs >= 0);
  },
  async "takes a status other than 0 for a result"({ create }) {
    const { environment, programs } = await create();
    assert.equal((await soon(environment.run(programs.exit(7)), "a command")).exitCode, 7);
  },
  async "gives a command what it is to read"({ create }) {
    const { environment, programs } = await create();
    const stdin = Buffer.alloc(300_000, "abc");
    const result = await soon(environment.run(programs.copy(), { stdin }), "a command");
    assert.equal(result.stdoutBytes, stdin.length);
    assert.ok(Buffer.from(result.stdout).equals(stdin.subarray(0, result.stdout.length)));
  },
  async "counts output that it does not keep"({ create }) {
    const { environment, programs } = await create();
    const result = await soon(environment.run(programs.flood(floodBytes)), "a flood");
    assert.equal(result.stdoutBytes, floodBytes);
    assert.ok(result.stdout.length < floodBytes, "not all of it is kept");
  },
  async "ends a command at its timeout, and lives on"({ create }) {
    const { environment, programs } = await create();
    await refused(
      environment.run(programs.resist(), { timeoutMs: 300 }),
      ["COMMAND_TIMEOUT"],
      "a command over its time",
    );
    assert.equal((await soon(environment.run(programs.exit(0)), "the next command")).exitCode, 0);
  },
  async "ends a command that is aborted with the signal's reason, and lives on"({ create }) {
    const { environment, programs } = await create();
    const reason = new Error("enough");
    await rejectsWith(
      environment.run(programs.exit(0), { signal: AbortSignal.abort(reason) }),
      reason,
      "aborted before",
    );
    const abort = new AbortController();
    const running = environment.run(programs.resist(), { signal: abort.signal });
    setTimeout(() => abort.abort(reason), 200);
    await rejectsWith(running, reason, "aborted while it runs");
    assert.equal((await soon(environment.run(programs.exit(0)), "the next command")).exitCode, 0);
  },
  async "interrupts a command that is asked to end, and gives its result"({ create }) {
    const { environment, programs } = await create();
    const interrupt = new AbortController();
    const running = environment.run(programs.wait(), { interrupt: interrupt.signal });
    setTimeout(() => interrupt.abort(), 500);
    const result = await soon(running, "an interrupted command");
    assert.ok(result.signal === "SIGINT" || (result.exitCode ?? 0) > 0, "it ended by the interrupt");
  },
  async "runs commands beside each other"({ create }) {
    const { environment, programs } = await create();
    const abort = new AbortController();
    const long = environment.run(programs.resist(), { signal: abort.signal });
    assert.equal((await soon(environment.run(programs.exit(3)), "a command beside")).exitCode, 3);
    abort.abort(new Error("done"));
    await Promise.allSettled([long]);
  },
  async "fails a running command at once when it is closed"({ create }) {
    const { environment, programs } = await create();
    const running = refused(environment.run(programs.resist()), ["ENVIRONMENT_ENDED"], "a command that runs");
    await environment.close();
    await running;
  },
  async "says that a program cannot be started"({ create }) {
    const { environment, programs } = await create();
    const run = environment.run(["/nonexistent/program"]);
    await refused(run, ["COMMAND_NOT_STARTED"], "a program that does not exist");
    assert.equal((await soon(environment.run(programs.exit(0)), "the next command")).exitCode, 0);
  },
  async "refuses argument lists that no system can start"({ create }) {
    const { environment } = await create();
    const tooMany = Array.from({ length: 100_000 }, () => "x");
    for (const argv of [[], ["a\0b"], ["x", "y\0"], ["x", "y".repeat(2 ** 25)], tooMany]) {
      await refused(environment.run(argv), ["PAYLOAD_INVALID"], `${argv.length} arguments`);
    }
  },
};
