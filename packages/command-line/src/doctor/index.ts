export { type Check, showChecks } from "./checks.js";
