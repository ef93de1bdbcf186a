/** A text of so many lines. @param make - A line, by its 0-based number. */
export function lines(count: number, make: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => `${make(at)}\n`).join('');
}
