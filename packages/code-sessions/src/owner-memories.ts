import { createOutcomeMemory, type MemoryBounds, type OutcomeMemory } from "./outcome-memory.js";

/** Outcome memories by owner, bounded together so that nobody can make others' keys be forgotten but by taking less. */
export interface OwnerMemories {
  of(owner: string): OutcomeMemory;
  /** Call when an outcome was added. */
  trim(): void;
}

export interface OwnerMemoriesBounds extends MemoryBounds {
  readonly maxOutcomeBytes: number;
}

export function createOwnerMemories(bounds: OwnerMemoriesBounds): OwnerMemories {
  const memories = new Map<string, OutcomeMemory>();
  const largest = (): OutcomeMemory | undefined => {
    let found: OutcomeMemory | undefined;
    for (const memory of memories.values()) if (memory.bytes > (found?.bytes ?? 0)) found = memory;
    return found;
  };
  const total = (): number => {
    let bytes = 0;
    for (const memory of memories.values()) bytes += memory.bytes;
    return bytes;
  };
  return {
    of(owner) {
      const memory = memories.get(owner) ?? createOutcomeMemory(bounds);
      memories.set(owner, memory);
      return memory;
    },
    trim() {
      while (total() > bounds.maxOutcomeBytes && largest()?.forgetOldest() === true);
      for (const [owner, memory] of memories) if (memory.size === 0) memories.delete(owner);
    },
  };
}
