/**
 * One bit a number: whether it is above the vector's mean. Vectors that point the same way agree in most of them, and comparing
 * bits takes a fiftieth of comparing numbers. The mean, not 0: some models give no negative numbers.
 *
 * @returns as many words of 32 bits as are needed.
 */
export function signsOf(vector: Float32Array): Uint32Array {
  let sum = 0;
  for (const one of vector) sum += one;
  const mean = sum / vector.length;
  const signs = new Uint32Array(signWords(vector.length));
  for (let at = 0; at < vector.length; at++) {
    if ((vector[at] as number) > mean) signs[at >>> 5] = (signs[at >>> 5] as number) | (1 << (at & 31));
  }
  return signs;
}

export function signWords(dimensions: number): number {
  return Math.ceil(dimensions / 32);
}

/**
 * Rows of a table of signs that differ least from those of a query.
 *
 * @param table - One row after the other, each as long as `signs`.
 * @param most - So many at most; all that are as good as the last of them are among them.
 */
export function nearestRows(table: Uint32Array, signs: Uint32Array, most: number): readonly number[] {
  const words = signs.length;
  const count = table.length / words;
  const all = Array.from({ length: count }, (_, row) => row);
  if (count <= most) return all;
  const distances = new Uint16Array(count);
  for (let row = 0, at = 0; row < count; row++) {
    let different = 0;
    for (let word = 0; word < words; word++, at++) different += bitsIn((table[at] as number) ^ (signs[word] as number));
    distances[row] = different;
  }
  const limit = distances.slice().sort()[most - 1] as number;
  return all.filter((row) => (distances[row] as number) <= limit).slice(0, most * 2);
}

// --- internal ---

function bitsIn(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
