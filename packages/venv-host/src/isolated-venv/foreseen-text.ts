import type { ForeseenEnvironment } from "./foresee-environment.js";

/** For a person, after the plugin's name: which environment it will have, and why not the one in its own folder. After `tryPlugin`: its class was imported where it is there. */
export function foreseenText(foreseen: ForeseenEnvironment): string {
  if (foreseen.state === "installed") return `uses ${foreseen.path}, as it was installed; its class can be imported`;
  const { state, key, passedOver } = foreseen;
  const when = state === "built" ? " and its class can be imported" : " at its first use";
  return `its environment ${key.slice(0, 16)} is built${when}${passedOver === undefined ? "" : notUsed(passedOver)}`;
}

function notUsed({
  path,
  verdict,
  why,
}: {
  readonly path: string;
  readonly verdict: string;
  readonly why?: string | undefined;
}): string {
  return `; ${path} is not used: ${verdict}${why === undefined ? "" : ` (${why})`}`;
}
