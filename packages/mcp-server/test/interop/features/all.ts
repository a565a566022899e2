import { calls } from "./calls.js";
import { changes } from "./changes.js";
import type { Feature } from "./feature.js";
import { lists } from "./lists.js";
import { questions } from "./questions.js";
import { tools } from "./tools.js";

/** All that clients are tried with, in the order in which they are. */
export const features: readonly Feature[] = [...changes, ...tools, ...calls, ...lists, ...questions];
