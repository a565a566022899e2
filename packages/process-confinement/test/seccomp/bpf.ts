import type { BpfInstruction } from "../../src/seccomp/filter.js";

/** One system call as the kernel shows it to a filter (linux/seccomp.h, struct seccomp_data). */
export interface Call {
  readonly number: number;
  readonly architecture: number;
  readonly args?: readonly bigint[];
}

/**
 * Runs a classic BPF program over one call, as net/core/filter.c and kernel/seccomp.c do for the instructions that a filter may
 * have. Written from the kernel's documentation (networking/filter.rst), not from the code that makes the programs.
 * @param filter Records of 8 bytes.
 */
export function runFilter(filter: Uint8Array, { number, architecture, args = [] }: Call): number {
  const call = new DataView(new ArrayBuffer(64));
  call.setUint32(0, number, true);
  call.setUint32(4, architecture, true);
  for (const [index, value] of args.entries()) call.setBigUint64(16 + index * 8, value, true);
  const program = decode(filter);
  let accumulator = 0;
  for (let at = 0; ; at++) {
    const instruction = program[at];
    if (instruction === undefined) throw new Error("the program runs past its end");
    const { code, jt, jf, k } = instruction;
    const jump = (holds: boolean): number => (holds ? jt : jf);
    if (code === 0x20) accumulator = loadAligned(call, k);
    else if (code === 0x15) at += jump(accumulator === k);
    else if (code === 0x35) at += jump(accumulator >= k);
    else if (code === 0x45) at += jump((accumulator & k) !== 0);
    else if (code === 0x06) return k;
    else throw new Error(`an instruction that is not known: ${code}`);
  }
}

export function decode(filter: Uint8Array): readonly BpfInstruction[] {
  const view = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  return Array.from({ length: filter.byteLength / 8 }, (_, index) => ({
    code: view.getUint16(index * 8, true),
    jt: view.getUint8(index * 8 + 2),
    jf: view.getUint8(index * 8 + 3),
    k: view.getUint32(index * 8 + 4, true),
  }));
}

/** The kernel refuses a program that loads beside its words (seccomp_check_filter). */
function loadAligned(call: DataView, offset: number): number {
  if (offset % 4 !== 0 || offset + 4 > call.byteLength) throw new Error(`a load at ${offset}`);
  return call.getUint32(offset, true);
}
