/** Names and values of labels, in the order in which they are written. Values may have anything in them. */
export type Labels = Readonly<Record<string, string>>;

/** One sample. */
export type Sample = readonly [labels: Labels, value: number];

/** Samples of one name, in the text form of Prometheus (version 0.0.4). `help` and `name` are the program's own words. */
export function familyText(name: string, type: "counter" | "gauge", help: string, samples: Iterable<Sample>): string {
  const lines = [...samples].map(([labels, value]) => `${name}${labelsText(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

/** Counts by labels. There are as many counts as different labels: labels must not be a client's. */
export interface Counter {
  /** Adds one. */
  add(labels: Labels): void;
  samples(): readonly Sample[];
}

export function createCounter(): Counter {
  const counts = new Map<string, { readonly labels: Labels; value: number }>();
  return {
    add: (labels) => {
      const key = JSON.stringify(labels); // their text costs ten times as much
      const count = counts.get(key) ?? { labels, value: 0 };
      counts.set(key, count);
      count.value += 1;
    },
    samples: () => [...counts.values()].map(({ labels, value }) => [labels, value]),
  };
}

/** How long something takes, by labels, counted up to each bound. */
export interface Histogram {
  observe(labels: Labels, seconds: number): void;
  text(): string;
}

interface Series {
  readonly labels: Labels;
  readonly buckets: number[];
  sum: number;
  count: number;
}

/** @param bounds in seconds, ascending. */
export function createHistogram(name: string, help: string, bounds: readonly number[]): Histogram {
  const all = new Map<string, Series>();
  return {
    observe: (labels, seconds) => {
      const key = JSON.stringify(labels); // their text costs ten times as much
      const series = all.get(key) ?? { labels, buckets: bounds.map(() => 0), sum: 0, count: 0 };
      all.set(key, series);
      series.sum += seconds;
      series.count += 1;
      bounds.forEach((bound, at) => {
        if (seconds <= bound) series.buckets[at] = (series.buckets[at] ?? 0) + 1;
      });
    },
    text: () => {
      const lines = [...all.values()].map((series) => seriesText(name, bounds, series));
      return `# HELP ${name} ${help}\n# TYPE ${name} histogram\n${lines.join("")}`;
    },
  };
}

function seriesText(name: string, bounds: readonly number[], { labels, buckets, sum, count }: Series): string {
  const bucket = (le: string, value: number): string => `${name}_bucket${labelsText({ ...labels, le })} ${value}\n`;
  const below = bounds.map((bound, at) => bucket(String(bound), buckets[at] ?? 0)).join("");
  const own = labelsText(labels);
  return `${below}${bucket("+Inf", count)}${name}_sum${own} ${sum}\n${name}_count${own} ${count}\n`;
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** As the text form has it: a value can neither end itself nor its line. */
function escaped(value: string): string {
  return value.replace(/[\\"]/gu, "\\$&").replaceAll("\n", "\\n");
}
