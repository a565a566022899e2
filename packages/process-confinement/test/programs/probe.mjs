// Prints what `probe` or `selfTest` of the built package tell, as JSON. Arguments: which of them, and its options as JSON.
import { probe, selfTest } from "../../dist/index.js";

const [which, options = "{}"] = process.argv.slice(2);
try {
  const report = await (which === "selfTest" ? selfTest : probe)(JSON.parse(options));
  console.log(JSON.stringify({ report }));
} catch (error) {
  const { code, message, field, cure } = error;
  console.log(JSON.stringify({ error: { code, message, field, cure } }));
}
