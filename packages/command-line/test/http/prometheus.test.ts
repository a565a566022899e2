import { expect, it } from "vitest";
import { createCounter, createHistogram, familyText } from "../../src/http/index.js";

it("counts are told by their labels, which cannot end their value or their line", () => {
  const counter = createCounter();
  counter.add({ door: "a", status: "ok" });
  counter.add({ door: "a", status: "ok" });
  counter.add({ door: 'x"} 1\n\\', status: "ok" });
  expect(familyText("calls_total", "counter", "Calls.", counter.samples())).toBe(
    [
      "# HELP calls_total Calls.",
      "# TYPE calls_total counter",
      'calls_total{door="a",status="ok"} 2',
      'calls_total{door="x\\"} 1\\n\\\\",status="ok"} 1',
      "",
    ].join("\n"),
  );
  expect(familyText("open", "gauge", "Open.", [[{}, 3]])).toBe("# HELP open Open.\n# TYPE open gauge\nopen 3\n");
});

it("times are counted up to each bound that they are not over, and in all", () => {
  const histogram = createHistogram("call_seconds", "Durations.", [0.1, 1]);
  for (const seconds of [0.1, 0.5, 2]) histogram.observe({ door: "a" }, seconds);
  expect(histogram.text()).toBe(
    [
      "# HELP call_seconds Durations.",
      "# TYPE call_seconds histogram",
      'call_seconds_bucket{door="a",le="0.1"} 1',
      'call_seconds_bucket{door="a",le="1"} 2',
      'call_seconds_bucket{door="a",le="+Inf"} 3',
      'call_seconds_sum{door="a"} 2.6',
      'call_seconds_count{door="a"} 3',
      "",
    ].join("\n"),
  );
});
