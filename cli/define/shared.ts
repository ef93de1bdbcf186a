import { InvalidArgumentError } from 'commander';

/** Reads a whole number. */
export function from(least: number, most: number, message: string): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(message);
  };
}
