export const EXIT = { done: 0, problem: 1, wrongUse: 2 } as const;
export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/** Other codes give `problem`. docs/command.md lists them. */
export const EXIT_OF_CODE: ReadonlyMap<string, ExitStatus> = new Map([
  ['INVALID_ARGUMENT', EXIT.wrongUse],
  ['ROOT_NOT_FOUND', EXIT.wrongUse],
]);

export function exitOf(code: string): ExitStatus {
  return EXIT_OF_CODE.get(code) ?? EXIT.problem;
}
