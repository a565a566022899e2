import { closeSync, openSync, readSync } from "node:fs";

/** A part of a file without a name that a process has mapped. */
export interface DeletedMapping {
  /** As /proc/PID/map_files names it. */
  readonly range: string;
  /** As stat(2) tells it. */
  readonly device: number;
  readonly inode: number;
  /** Where it ends in the file. */
  readonly endBytes: number;
}

/** What was read of a list at once. */
export interface MapsPart {
  readonly bytes: number;
  readonly mappings: readonly DeletedMapping[];
}

const partBytes = 65_536;

/** Reads a /proc/PID/maps (proc(5)) part by part: a path in each of 65_530 lines can be long. Ends where it cannot be read. */
export function* deletedMappings(path: string): Generator<MapsPart, void> {
  let maps: number | undefined;
  try {
    maps = openSync(path, "r");
    const buffer = Buffer.alloc(partBytes);
    let rest = "";
    for (let bytes = readSync(maps, buffer); bytes > 0; bytes = readSync(maps, buffer)) {
      const lines = (rest + buffer.toString("latin1", 0, bytes)).split("\n");
      rest = lines.pop() ?? "";
      yield { bytes, mappings: lines.filter((line) => line.endsWith(" (deleted)")).flatMap(readMapping) };
    }
  } catch {
    // ended meanwhile, or hidden from us
  } finally {
    if (maps !== undefined) closeSync(maps);
  }
}

// `7f3a00000000-7f3a00001000 rw-s 00000000 fe:00 1234      /path (deleted)`
const mappingLine = /^0*([0-9a-f]+)-0*([0-9a-f]+) \S+ ([0-9a-f]+) ([0-9a-f]+):([0-9a-f]+) (\d+) /;

function readMapping(line: string): readonly DeletedMapping[] {
  const match = mappingLine.exec(line);
  if (match === null) return [];
  const [, from = "", to = "", ...numbers] = match;
  const [offset = 0, major = 0, minor = 0] = numbers.slice(0, 3).map(hexadecimal);
  return [
    {
      range: `${from}-${to}`,
      device: deviceOf(major, minor),
      inode: Number(numbers[3]),
      endBytes: offset + hexadecimal(to) - hexadecimal(from),
    },
  ];
}

const hexadecimal = (digits: string): number => Number.parseInt(digits, 16);

// As the C library packs the two numbers (sys/sysmacros.h), of which the kernel has 12 and 20 bits.
function deviceOf(major: number, minor: number): number {
  return ((minor & 0xff) | (major << 8) | ((minor & 0xfff00) << 12)) >>> 0;
}
