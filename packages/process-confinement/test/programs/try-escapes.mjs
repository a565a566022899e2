// Runs the escape kit against a sandbox of this package and prints the report. Started with a descriptor that is not
// close-on-exec, so that there is one to inherit. The first argument lists attempts to leave out, the second the limits that
// this user cannot have.
import { openSandbox } from "@berth/process-confinement";
import { escapeAttempts, runEscapes } from "@berth/process-confinement/escapes";

const [without = "", unheld = ""] = process.argv.slice(2);
const isHeld = ([name]) => !unheld.split(",").includes(name);
const report = await runEscapes({
  attempts: escapeAttempts.map(({ id }) => id).filter((id) => !without.split(",").includes(id)),
  wrap: ({ name, file, args, env, readOnly, workspace, limits }, signal) => {
    const { tmpBytes, ...bounds } = limits;
    return openSandbox({
      ...{ name, file, args, env, signal },
      policy: {
        readOnly: readOnly.map((source) => ({ source })),
        workspace: { kind: "folder", source: workspace, target: workspace },
        tmpBytes,
        limits: Object.fromEntries(Object.entries(bounds).filter(isHeld)),
      },
    });
  },
});
console.log(JSON.stringify(report));
