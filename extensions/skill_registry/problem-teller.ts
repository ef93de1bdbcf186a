import type { Problem } from 'skill-registry/kernel';

/** Tells what is newly wrong, once. */
export interface ProblemTeller {
  /** From now on what is new is told; what is there already is not. */
  begin(): void;
  /** Tells what is new since this was called last. Nothing before `begin`. */
  tellNew(): void;
}

/** @param gather - Everything that is wrong now. */
export function createProblemTeller(gather: () => readonly Problem[], tell: (problem: Problem) => void): ProblemTeller {
  /** What was told and still holds: a problem that was mended and comes back is told again. */
  let told: ReadonlySet<string> | undefined;
  return {
    begin() {
      told = new Set(gather().map(keyOf));
    },
    tellNew() {
      if (!told) return;
      const [before, problems] = [told, gather()];
      told = new Set(problems.map(keyOf));
      for (const problem of problems) if (!before.has(keyOf(problem))) tell(problem);
    },
  };
}

// --- internal ---

function keyOf({ code, file, line, message }: Problem): string {
  return JSON.stringify([code, file, line, message]);
}
