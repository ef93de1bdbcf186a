import { hash } from 'node:crypto';

/**
 * Between two lines that the text cannot contain: both have a key, a digest of the text that does not occur in it. The
 * same label and text give the same result.
 *
 * @param label - One line: what the text is.
 */
export function delimited(label: string, text: string): string {
  const key = delimiterKey(label, text);
  return `[${label} | ${key}]\n\n${text}\n\n[End | ${key}]`;
}

// --- internal ---

/** Enough that nobody can write a text that contains its own key. Three decimal digits take one token. */
const KEY_DIGITS = 18;

function delimiterKey(label: string, text: string): string {
  for (let round = 0; ; round++) {
    const digest = hash('sha256', `${round}\n${label}\n${text}`, 'hex');
    const key = String(BigInt(`0x${digest}`)).slice(-KEY_DIGITS);
    if (!text.includes(key)) return key;
  }
}
