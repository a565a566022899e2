import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import type { DisposableEnvironment, TerminalChannel } from "../../src/index.js";
import { kinds, openProvider, type ProviderKind, text, workerName } from "./provider-kinds.js";

async function withShell(
  kind: ProviderKind,
  run: (environment: DisposableEnvironment) => Promise<void>,
): Promise<void> {
  await using opened = await openProvider(kind);
  const profile = kind.profile({}, { shell: true });
  await using environment = await opened.provider.create(workerName(), profile, { deadlineMs: 60_000 });
  await run(environment);
}

/** Reads until the text has come. */
async function readUntil(terminal: TerminalChannel, wanted: RegExp): Promise<string> {
  const signal = AbortSignal.timeout(20_000);
  let seen = "";
  while (!wanted.test(seen)) {
    const chunk = await terminal.read({ signal }).catch(() => new Uint8Array());
    if (chunk.length === 0) throw new Error(`no ${wanted} in 20 s or until its end, but ${JSON.stringify(seen)}`);
    seen += text(chunk);
  }
  return seen;
}

describe.each(kinds)("the terminal of a $name environment", (kind) => {
  const test = partTest(...kind.parts);

  test("is refused before it is installed, and for profiles without it", async () => {
    await using opened = await openProvider(kind);
    await using plain = await opened.provider.create(workerName(), kind.profile(), { deadlineMs: 60_000 });
    await expect(plain.installShell()).rejects.toMatchObject({ code: "SHELL_NOT_GRANTED" });
    await withShell(kind, async ({ openTerminal }) => {
      await expect(openTerminal()).rejects.toMatchObject({ code: "SHELL_NOT_GRANTED" });
    });
  });

  test("is a real one: it has a size, echoes, and passes Ctrl-C on", () =>
    withShell(kind, async ({ installShell, openTerminal }) => {
      await installShell();
      await using terminal = await openTerminal();
      terminal.resize(123, 45);
      await terminal.write(Buffer.from("stty size; tty\n"));
      expect(await readUntil(terminal, /\/dev\/pts\/\d/)).toMatch(/45 123/);
      // Said by the program itself: the shell loses a Ctrl-C that comes between its own words and the start of a program.
      await terminal.write(Buffer.from("sh -c 'echo be\"\"gins; exec sleep 1000'; echo inter''rupted\n"));
      await readUntil(terminal, /begins\r\n/);
      await terminal.write(Buffer.from("\x03"));
      await readUntil(terminal, /\^C[\s\S]*[$#] $/);
      await terminal.write(Buffer.from("echo and go''es on\n"));
      await readUntil(terminal, /goes on\r\n/);
    }));

  test("ends with an empty chunk when the shell does", () =>
    withShell(kind, async ({ installShell, openTerminal }) => {
      await installShell();
      await using terminal = await openTerminal();
      await terminal.write(Buffer.from("echo fare''well; exit\n"));
      await readUntil(terminal, /farewell/);
      let chunk = await terminal.read();
      while (chunk.length > 0) chunk = await terminal.read();
      expect(await terminal.read()).toHaveLength(0);
    }));

  test("gives chunks of at most the size that is asked for, and stops waiting when told", () =>
    withShell(kind, async ({ installShell, openTerminal }) => {
      await installShell();
      await using terminal = await openTerminal();
      await terminal.write(Buffer.from("head -c 5000 /dev/zero | tr '\\0' x; echo\n"));
      let seen = 0;
      while (seen < 5000) {
        const chunk = await terminal.read({ maxBytes: 100, signal: AbortSignal.timeout(20_000) });
        expect(chunk.length).toBeLessThanOrEqual(100);
        seen += chunk.length;
      }
      const abort = new AbortController();
      const waiting = (async () => {
        for (;;) await terminal.read({ signal: abort.signal });
      })();
      abort.abort("enough");
      await expect(waiting).rejects.toBe("enough");
      await expect(terminal.write(Buffer.alloc(65_537))).rejects.toMatchObject({ code: "INPUT_TOO_LARGE" });
      expect(() => terminal.resize(0, 1)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    }));

  test("takes what it runs with it when it is closed", () =>
    withShell(kind, async ({ installShell, openTerminal, run }) => {
      await installShell();
      const terminal = await openTerminal();
      await terminal.write(Buffer.from("trap '' HUP; sleep 4321 & echo go''ing; sleep 4321\n"));
      await readUntil(terminal, /going/);
      await Promise.all([terminal.close(), terminal.close()]);
      const left = await run([
        "sh",
        "-c",
        "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 4321[ ]'",
      ]);
      expect(text(left.stdout).trim()).toBe("0");
    }));
});
