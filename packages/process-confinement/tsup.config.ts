import { defineConfig } from "tsup";

export default defineConfig({
  entry: [
    "src/index.ts",
    "src/egress/index.ts",
    "src/escapes/index.ts",
    "src/launcher/index.ts",
    "src/launcher/program.ts", // what `confine` starts; no entry for others
  ],
  format: ["esm"],
  dts: true,
  sourcemap: true,
  clean: true,
  target: "node20",
});
