import { type Envelope, wireErrors } from "@berth/jsonrpc-framing";
import { copySpan, errorFrame, resultFrame } from "../translate.js";
import { type FrontParts, paramsInvalid, textAt } from "./front-parts.js";
import type { Listening } from "./listening.js";

/** Levels of `logging/setLevel` (MCP 2025-11-25, Logging). */
const logLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** Answers requests that 2026-07-28 does not have any more; false: it is none of them. */
export type AnswerOwn = (frame: Uint8Array, envelope: Envelope) => boolean;

type Answerer = (frame: Uint8Array, envelope: Envelope, idBytes: Uint8Array) => void;

/** @param setLevel Told the level from which the client wants messages. */
export function createOwnMethods(
  { toClient }: Pick<FrontParts, "toClient">,
  listening: Listening,
  setLevel: (level: string) => void,
): AnswerOwn {
  const done = (idBytes: Uint8Array): void => toClient(resultFrame(idBytes, "{}"));
  const refuse = (idBytes: Uint8Array): void => toClient(errorFrame(idBytes, paramsInvalid));
  const answerers = new Map<string, Answerer>([
    ["ping", (_frame, _envelope, idBytes) => done(idBytes)],
    [
      "logging/setLevel",
      (frame, { params }, idBytes) => {
        const level = textAt(frame, params, "level");
        if (level === undefined || !logLevels.includes(level)) return refuse(idBytes);
        setLevel(level);
        done(idBytes);
      },
    ],
    [
      "resources/subscribe",
      (frame, { params }, idBytes) => {
        const uri = textAt(frame, params, "uri");
        if (uri === undefined) return refuse(idBytes);
        listening.subscribe(uri, (fault) => {
          if (fault === undefined) return done(idBytes);
          toClient(errorFrame(idBytes, { code: wireErrors.invalidParams, message: fault, data: { uri } }));
        });
      },
    ],
    [
      "resources/unsubscribe",
      (frame, { params }, idBytes) => {
        listening.unsubscribe(textAt(frame, params, "uri") ?? "");
        done(idBytes);
      },
    ],
  ]);
  return (frame, envelope) => {
    const answer = answerers.get(envelope.method ?? "");
    if (answer === undefined || envelope.id === undefined) return false;
    answer(frame, envelope, copySpan(frame, envelope.id));
    return true;
  };
}
