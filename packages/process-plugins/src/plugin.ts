export { aveErrors } from "./wire-errors.js";
