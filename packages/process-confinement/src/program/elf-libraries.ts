import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname } from "node:path";

/** What an ELF file says about where its libraries are (System V ABI, Dynamic Linking; gABI 4.1). */
export interface ElfLibraries {
  /** The loader that the kernel starts it with; undefined for a static program. */
  readonly loader: string | undefined;
  /** DT_RUNPATH or DT_RPATH, `$ORIGIN` filled in. */
  readonly folders: readonly string[];
}

/** Headers and dynamic sections of real programs are far smaller; tables are read where the file says they are. */
const maxTableBytes = 1 << 20;

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_STRTAB = 5;
const DT_RPATH = 15;
const DT_RUNPATH = 29;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly bytes: number;
}

/** Undefined when it is no little-endian 64-bit ELF file, or a damaged one. */
export function readElfLibraries(path: string): ElfLibraries | undefined {
  const descriptor = openSync(path, "r");
  try {
    const size = fstatSync(descriptor).size;
    const read = (offset: number, bytes: number): Buffer => {
      if (offset < 0 || bytes > maxTableBytes || offset + bytes > size) throw new RangeError("outside of the file");
      const buffer = Buffer.alloc(bytes);
      readSync(descriptor, buffer, 0, bytes, offset);
      return buffer;
    };
    return describe(read, dirname(path));
  } catch (error) {
    if (error instanceof RangeError) return undefined; // a table outside of the file or of what was read
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

type Read = (offset: number, bytes: number) => Buffer;

function describe(read: Read, origin: string): ElfLibraries | undefined {
  const header = read(0, 64);
  // EI_MAG, ELFCLASS64, ELFDATA2LSB.
  if (header.readUInt32BE(0) !== 0x7f454c46 || header[4] !== 2 || header[5] !== 1) return undefined;
  const segments = readSegments(header, read);
  const interp = segments.find(({ type }) => type === PT_INTERP);
  const loader = interp && cString(read(interp.offset, interp.bytes), 0);
  return { loader, folders: searchFolders(segments, read, origin) };
}

function readSegments(header: Buffer, read: Read): readonly Segment[] {
  const size = header.readUInt16LE(54);
  const count = header.readUInt16LE(56);
  const table = read(Number(header.readBigUInt64LE(32)), size * count);
  return Array.from({ length: count }, (_, index) => {
    const at = index * size;
    return {
      type: table.readUInt32LE(at),
      offset: Number(table.readBigUInt64LE(at + 8)),
      address: Number(table.readBigUInt64LE(at + 16)),
      bytes: Number(table.readBigUInt64LE(at + 32)),
    };
  });
}

function searchFolders(segments: readonly Segment[], read: Read, origin: string): readonly string[] {
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  if (dynamic === undefined) return [];
  const entries = readEntries(read(dynamic.offset, dynamic.bytes));
  const strings = offsetOf(segments, entries.get(DT_STRTAB));
  const path = entries.get(DT_RUNPATH) ?? entries.get(DT_RPATH);
  if (strings === undefined || path === undefined) return [];
  const text = cString(readSome(read, strings + path), 0);
  return text
    .split(":")
    .map((folder) => folder.replaceAll(/\$ORIGIN|\$\{ORIGIN\}/g, origin))
    .filter((folder) => folder.startsWith("/") && !folder.includes("$"));
}

function readEntries(section: Buffer): ReadonlyMap<number, number> {
  const entries = new Map<number, number>();
  for (let at = 0; at + 16 <= section.length; at += 16)
    entries.set(Number(section.readBigUInt64LE(at)), Number(section.readBigUInt64LE(at + 8)));
  return entries;
}

/** The dynamic section names addresses; the file is read by offsets. */
function offsetOf(segments: readonly Segment[], address: number | undefined): number | undefined {
  if (address === undefined) return undefined;
  const load = segments.find(
    ({ type, address: start, bytes }) => type === PT_LOAD && address >= start && address < start + bytes,
  );
  return load && address - load.address + load.offset;
}

const maxPathBytes = 4_096;

/** As much as there may be, less near the end of the file. */
function readSome(read: Read, offset: number): Buffer {
  for (let bytes = maxPathBytes; bytes > 16; bytes /= 2) {
    try {
      return read(offset, bytes);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error; // less is left
    }
  }
  return Buffer.alloc(0);
}

function cString(buffer: Buffer, start: number): string {
  const end = buffer.indexOf(0, start);
  return buffer.toString("utf8", start, end === -1 ? buffer.length : end);
}
