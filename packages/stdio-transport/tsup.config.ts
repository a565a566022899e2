import { defineConfig } from "tsup";

export default defineConfig({
  entry: ["src/index.ts", "src/memory.ts", "src/sdk.ts"],
  format: ["esm"],
  dts: true,
  sourcemap: true,
  clean: true,
  target: "node20",
});
