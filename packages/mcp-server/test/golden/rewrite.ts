import { createClock } from "./clock.js";
import { openHttp } from "./http-peer.js";
import { openPiped } from "./line-peer.js";
import { recordHttp } from "./play-http.js";
import { recordStdio } from "./play-stdio.js";
import { type Exchange, type Line, readTranscripts, type Transcript, writeTranscript } from "./transcript.js";

/** Writes each golden file anew with what the server says now, and prints what is different: that is to be read before it is kept. */
export async function rewriteAll(): Promise<void> {
  for (const transcript of readTranscripts()) {
    const exchanges: Exchange[] = [];
    for (const { header, lines } of transcript.exchanges) {
      const recorded = await record(transcript, { header, lines }).catch((error) => {
        throw new Error(`${transcript.name}: ${header.title}`, { cause: error });
      });
      if (JSON.stringify(recorded) !== JSON.stringify(lines)) tell(transcript, header.title, lines, recorded);
      exchanges.push({ header, lines: recorded });
    }
    writeTranscript({ ...transcript, exchanges });
  }
}

async function record(transcript: Transcript, exchange: Exchange): Promise<readonly Line[]> {
  const clock = createClock();
  if (transcript.transport === "stdio") {
    return recordStdio(transcript, exchange, openPiped(exchange.header, clock), clock);
  }
  const server = await openHttp(exchange.header, clock);
  try {
    return await recordHttp(transcript, exchange, server.port, clock);
  } finally {
    await server.close();
  }
}

function tell({ name }: Transcript, title: string, before: readonly Line[], after: readonly Line[]): void {
  const [old, now] = [before, after].map((lines) => lines.map((line) => JSON.stringify(line)));
  console.log(`${name}: ${title}`);
  for (const line of old ?? []) if (!now?.includes(line)) console.log(`  - ${line}`);
  for (const line of now ?? []) if (!old?.includes(line)) console.log(`  + ${line}`);
}
