import assert from "node:assert/strict";
import { once } from "node:events";
import type { ProviderCheck } from "./provider-contract.js";
import { readUntil, refused, rejectsWith, soon } from "./provider-subject.js";

/** Processes that live on beside others. */
export const processChecks: Readonly<Record<string, ProviderCheck>> = {
  async "opens a process with a byte stream of its own, both ways"({ create }) {
    const { environment, programs } = await create();
    const process = await soon(environment.open(programs.copy()), "the start");
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    process.stream.write(bytes);
    const seen: Buffer[] = [];
    const whole = (async () => {
      for await (const chunk of process.stream) {
        seen.push(Buffer.from(chunk));
        if (Buffer.concat(seen).length >= bytes.length) return;
      }
    })();
    await soon(whole, "its answer");
    assert.ok(Buffer.concat(seen).equals(bytes));
    await process.close();
    await process.close();
    await soon(process.exited, "its end");
  },
  async "ends a process's input, and tells how it left"({ create }) {
    const { environment, programs } = await create();
    const process = await soon(environment.open(programs.copy()), "the start");
    process.stream.resume();
    process.stream.end();
    assert.deepEqual(await soon(process.exited, "its exit"), { code: 0, signal: undefined });
  },
  async "signals a process, and kills one that resists"({ create }) {
    const { environment, programs } = await create();
    const waiting = await soon(environment.open(programs.wait()), "a start");
    await soon(readUntil(waiting.stream, "up"), "its first words");
    waiting.signal("SIGINT", { group: true });
    const left = await soon(waiting.exited, "its end by SIGINT");
    assert.ok(left.signal === "SIGINT" || (left.code ?? 0) > 0);
    const resisting = await soon(environment.open(programs.resist()), "a start");
    await soon(readUntil(resisting.stream, "up"), "its first words");
    resisting.signal("SIGINT");
    resisting.signal("SIGTERM", { group: true });
    await soon(resisting.close(), "its end by close");
    assert.equal((await soon(resisting.exited, "its end by close")).signal, "SIGKILL");
  },
  async "gives a process its standard error apart"({ create }) {
    const { environment, programs } = await create();
    const process = await soon(environment.open(programs.print("to out", "to err")), "the start");
    await soon(Promise.all([readUntil(process.stream, "to out"), readUntil(process.stderr, "to err")]), "both outputs");
    await soon(process.exited, "its exit");
  },
  async "ends processes and their streams with the environment"({ create }) {
    const { environment, programs } = await create();
    const process = await soon(environment.open(programs.resist()), "the start");
    process.stream.on("error", () => undefined);
    const over = Promise.race([once(process.stream, "end"), once(process.stream, "close")]);
    process.stream.resume();
    await environment.close();
    await soon(process.exited, "its end");
    await soon(over, "the end of its stream");
  },
  async "does not start a process that is aborted"({ create }) {
    const { environment, programs } = await create();
    const reason = new Error("not wanted");
    const signal = AbortSignal.abort(reason);
    await rejectsWith(environment.open(programs.copy(), { signal }), reason, "an aborted start");
  },
  async "says that a process cannot be started"({ create }) {
    const { environment } = await create();
    await refused(environment.open(["/nonexistent/program"]), ["COMMAND_NOT_STARTED"], "a missing program");
  },
};
