import { type ArgumentBits, type Denial, type DeniedCall, deniedCalls } from "./calls.js";
import { growingCalls } from "./growing-calls.js";

/** Architectures for which there is a filter, as Node names them. */
export type FilterArchitecture = "x64" | "arm64";

export interface FilterOptions {
  /** Refuses `growingCalls` too. Default false. */
  readonly noGrowth?: boolean | undefined;
}

/** One instruction of a classic BPF program (linux/filter.h, struct sock_filter). */
export interface BpfInstruction {
  readonly code: number;
  /** How many instructions to skip when a comparison holds, and when not. */
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

const loadWord = 0x20; // BPF_LD | BPF_W | BPF_ABS
const jumpEqual = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const jumpAtLeast = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const jumpBits = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const answer = 0x06; // BPF_RET | BPF_K

// struct seccomp_data: nr, arch, instruction_pointer (64 bits), args (64 bits each, little-endian on both architectures).
const numberOffset = 0;
const archOffset = 4;
const argumentOffset = (argument: number): number => 16 + 8 * argument;

const killProcess = 0x80000000;
const errnoAnswer = (errno: number): number => 0x00050000 + errno;
const allow = 0x7fff0000;
const ENOSYS = 38;

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 (linux/audit.h). */
const auditArchitecture = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
/** System calls of the x32 ABI have this bit; they would pass every comparison by number. */
const x32Bit = 0x40000000;

/** The filter as instructions: calls of another architecture end the process, forbidden ones fail, the rest passes. Pure. */
export function seccompProgram(
  architecture: FilterArchitecture,
  { noGrowth = false }: FilterOptions = {},
): readonly BpfInstruction[] {
  // The first of a number decides: what grows is refused for more than the usual filter refuses of the same calls.
  const denied = noGrowth ? [...growingCalls, ...deniedCalls] : deniedCalls;
  return [
    load(archOffset),
    compare(jumpEqual, auditArchitecture[architecture], 1, 0),
    returns(killProcess),
    load(numberOffset),
    ...(architecture === "x64" ? [compare(jumpAtLeast, x32Bit, 0, 1), returns(errnoAnswer(ENOSYS))] : []),
    ...denied.flatMap((call) => deny(call, call[architecture])),
    returns(allow),
  ];
}

/** The filter as the kernel takes it: 8 bytes for each instruction, little-endian. Pure. */
export function seccompFilter(architecture: FilterArchitecture, options?: FilterOptions): Uint8Array {
  const program = seccompProgram(architecture, options);
  const view = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(({ code, jt, jf, k }, index) => {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, jt);
    view.setUint8(index * 8 + 3, jf);
    view.setUint32(index * 8 + 4, k, true);
  });
  return new Uint8Array(view.buffer);
}

function deny({ denial }: DeniedCall, number: number | undefined): readonly BpfInstruction[] {
  if (number === undefined) return [];
  const body = denialBody(denial);
  return [compare(jumpEqual, number, 0, body.length), ...body];
}

/** Runs when the number is equal, and always ends with an answer: the number that was loaded is gone after a look at an argument. */
function denialBody(denial: Denial): readonly BpfInstruction[] {
  const refused = returns(errnoAnswer(denial.errno));
  if (denial.kind === "error") return [refused];
  if (denial.kind === "bits") {
    const { when, unless, otherwise } = denial;
    return [
      ...(when === undefined ? [] : [...testBits(when, 1, 0), returns(allow)]),
      ...(unless === undefined ? [] : [...testBits(unless, 0, 1), returns(allow)]),
      ...testBits(denial, 0, 1),
      refused,
      ...(otherwise === undefined ? [returns(allow)] : denialBody(otherwise)),
    ];
  }
  const argument = load(argumentOffset(denial.argument));
  const [ofListed, ofOthers] = denial.kind === "values" ? [refused, returns(allow)] : [returns(allow), refused];
  return [argument, ...denial.values.flatMap((value) => [compare(jumpEqual, value, 0, 1), ofListed]), ofOthers];
}

/** Skips so many instructions when any of the bits is there, and when none is. */
function testBits({ argument, mask }: ArgumentBits, jt: number, jf: number): readonly BpfInstruction[] {
  return [load(argumentOffset(argument)), compare(jumpBits, mask, jt, jf)];
}

function load(offset: number): BpfInstruction {
  return { code: loadWord, jt: 0, jf: 0, k: offset };
}

function compare(code: number, k: number, jt: number, jf: number): BpfInstruction {
  return { code, jt, jf, k };
}

function returns(k: number): BpfInstruction {
  return { code: answer, jt: 0, jf: 0, k };
}
