import { describe, expect, it } from "vitest";
import { createClock } from "./clock.js";
import { openHttp } from "./http-peer.js";
import { openChild, openPiped } from "./line-peer.js";
import { checkHttp } from "./play-http.js";
import { checkStdio } from "./play-stdio.js";
import { rewriteAll } from "./rewrite.js";
import { type Exchange, readTranscripts, type Transcript } from "./transcript.js";

if (process.env["BERTH_REWRITE_GOLDEN"] === "1") await rewriteAll();
const transcripts = readTranscripts();
const all = transcripts.flatMap(({ exchanges }) => exchanges);

describe.each(transcripts)("$name", (transcript) => {
  it.each(rows(transcript))("$title", ({ exchange }) => check(transcript, exchange));
});

// The same file of each revision against the built package in a process of its own.
describe.each(transcripts.filter(isPlayedOverProcess))("$name, over a process", (transcript) => {
  it.each(rows(transcript))("$title", ({ exchange }) =>
    checkStdio(transcript, exchange, openChild(exchange.header), createClock()),
  );
});

describe("the corpus", () => {
  it("holds at least 300 exchanges, accepted and rejected, over each transport and revision", () => {
    const stdio = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
    const folders = [...stdio.map((one) => `stdio/${one}`), ...stdio.slice(1).map((one) => `http/${one}`)];
    const outcomes = (under: string) =>
      transcripts
        .filter(({ name }) => name.startsWith(under))
        .flatMap(({ exchanges }) => exchanges.map(({ header }) => header.outcome));
    for (const under of folders) expect([...new Set(outcomes(under))].sort()).toEqual(["accepted", "rejected"]);
    expect(all.length).toBeGreaterThanOrEqual(300);
  });

  it("has another title for each exchange of a file, and says what decides each", () => {
    for (const { name, exchanges } of transcripts) {
      const titles = exchanges.map(({ header }) => header.title);
      expect(
        titles.filter((title, index) => titles.indexOf(title) !== index).map((title) => `${name}: ${title}`),
      ).toEqual([]);
      expect(exchanges.filter(({ header }) => !/^\S.* § /.test(header.spec)).map(({ header }) => header.title)).toEqual(
        [],
      );
    }
  });
});

async function check(transcript: Transcript, exchange: Exchange): Promise<void> {
  const clock = createClock();
  if (transcript.transport === "stdio") {
    await checkStdio(transcript, exchange, openPiped(exchange.header, clock), clock);
    return;
  }
  const server = await openHttp(exchange.header, clock);
  try {
    await checkHttp(transcript, exchange, server.port, clock);
  } finally {
    await server.close();
  }
}

function rows({ exchanges }: Transcript): readonly { readonly title: string; readonly exchange: Exchange }[] {
  return exchanges.map((exchange) => ({ title: exchange.header.title, exchange }));
}

function isPlayedOverProcess({ transport, topic }: Transcript): boolean {
  return transport === "stdio" && topic === "opening";
}
