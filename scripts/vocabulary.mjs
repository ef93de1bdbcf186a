/** The vocabulary of o200k_base as lib/text/byte-pairs.ts reads it: starts of tokens, a hash table, their bytes. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const SLOTS = 2 ** 19;

export function vocabulary() {
  const file = createRequire(import.meta.url).resolve('gpt-tokenizer/data/o200k_base.tiktoken');
  const tokens = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line, rank) => {
      const [base64, number] = line.split(' ');
      if (Number(number) !== rank) throw new Error(`${file}: rank ${rank} is missing.`);
      return Buffer.from(base64, 'base64');
    });
  const starts = [0];
  for (const token of tokens) starts.push(starts.at(-1) + token.length);
  const table = new Uint32Array(SLOTS);
  for (const [rank, token] of tokens.entries()) {
    let slot = token.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5) & (SLOTS - 1);
    while (table[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
    table[slot] = rank + 1;
  }
  const head = Buffer.alloc(4 * (2 + starts.length + SLOTS));
  for (const [at, number] of [tokens.length, SLOTS, ...starts, ...table].entries()) head.writeUInt32LE(number, 4 * at);
  return Buffer.concat([head, ...tokens]);
}
