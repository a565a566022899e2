import { constants } from "node:os";

const nameOf = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** The name of a signal's number, for a person; a real-time signal has only its number. */
export function signalName(number: number): string {
  return nameOf.get(number) ?? `signal ${number}`;
}

/** The number of one that may be sent to a process inside. */
export function signalNumber(name: "SIGINT" | "SIGTERM" | "SIGKILL"): number {
  return constants.signals[name];
}
