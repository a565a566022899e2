import { defineConfig } from "tsup";

const entries = ["src/index.ts", "src/egress/index.ts", "src/escapes/index.ts", "src/launcher/index.ts"];

export default defineConfig({
  // The last one is no entry for others: it is the program that `confine` starts.
  entry: [...entries, "src/launcher/program.ts"],
  format: ["esm"],
  dts: { entry: entries },
  sourcemap: true,
  clean: true,
  target: "node20",
});
