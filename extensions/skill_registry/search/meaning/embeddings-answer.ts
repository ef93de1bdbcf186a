import { z } from 'skill-registry/kernel';

const answer = z.object({ data: z.array(z.object({ index: z.int().min(0).optional(), embedding: z.unknown() })) });

/**
 * Vectors of length 1 out of the body of an answer, in the order of the texts.
 *
 * @returns what is wrong with it instead, to be put behind "answered with".
 */
export function readEmbeddings(body: string, count: number, maxDimensions: number): readonly Float32Array[] | string {
  const parsed = answer.safeParse(parseJson(body));
  if (!parsed.success) return 'something that is no JSON of the form { data: [{ index, embedding }] }';
  const { data } = parsed.data;
  if (data.length !== count) return `${data.length} vector(s)`;
  const vectors: (Float32Array | undefined)[] = new Array(count).fill(undefined);
  for (const [at, { index = at, embedding }] of data.entries()) {
    if (index >= count || vectors[index]) return `indexes that are not 0 to ${count - 1}, each once`;
    const vector = vectorOf(embedding, maxDimensions);
    if (typeof vector === 'string') return vector;
    vectors[index] = vector;
  }
  const found = vectors as readonly Float32Array[];
  const sizes = new Set(found.map(({ length }) => length));
  return sizes.size > 1 ? `vectors of different sizes (${[...sizes].join(', ')})` : found;
}

// --- internal ---

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function vectorOf(embedding: unknown, maxDimensions: number): Float32Array | string {
  if (!Array.isArray(embedding)) return 'an embedding that is no list of numbers';
  if (embedding.length === 0 || embedding.length > maxDimensions)
    return `a vector of ${embedding.length} numbers, expected 1 to ${maxDimensions}`;
  if (!embedding.every((one) => typeof one === 'number' && Number.isFinite(one)))
    return 'a vector with something in it that is no finite number';
  const length = Math.sqrt(embedding.reduce((sum: number, one: number) => sum + one * one, 0));
  // Also what would overflow.
  if (!(length > 0 && Number.isFinite(length))) return 'a vector without a direction';
  return Float32Array.from(embedding, (one: number) => one / length);
}
