/** What long work shows while it runs. */
export interface Progress {
  show(message: string): void;
  end(): void;
}

/** A line on a terminal that moves; nothing elsewhere. */
export async function startProgress(): Promise<Progress> {
  if (process.stderr.isTTY !== true) return { show: () => {}, end: () => {} };
  const { spinner } = await import("@clack/prompts");
  const line = spinner({ output: process.stderr, indicator: "timer" });
  let isRunning = false;
  return {
    show: (message) => {
      if (isRunning) line.message(message);
      else line.start(message);
      isRunning = true;
    },
    end: () => {
      if (isRunning) line.clear();
    },
  };
}
