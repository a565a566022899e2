import type { TaskWatcher } from "./tasks.js";

/**
 * Takes the changes of one task one after the other, at once when the one before it needed no time. Of messages that wait only the newest is kept: what waits is bounded
 * by what can happen in the life of a task.
 */
export function createTurns(take: TaskWatcher): TaskWatcher {
  type Change = Parameters<TaskWatcher>;
  const waiting: Change[] = [];
  let working: Promise<void> | undefined;
  const workOff = async (first: Promise<void>): Promise<void> => {
    try {
      await first;
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await take(...next);
    } finally {
      waiting.length = 0;
      working = undefined;
    }
  };
  return (...change) => {
    if (working === undefined) {
      const taken = take(...change);
      if (taken !== undefined) working = workOff(taken);
      return working;
    }
    const [, isMessage] = change;
    if (isMessage && waiting.at(-1)?.[1] === true) waiting.pop();
    waiting.push(change);
    return working;
  };
}
