import { hash } from 'node:crypto';

/**
 * A text between a first and a last line that the text itself cannot contain: both lines have a key that is a digest of the text and
 * does not occur in it. The same label and text always give the same result.
 *
 * @param label - One line: what the text is.
 */
export function delimited(label: string, text: string): string {
  const key = delimiterKey(label, text);
  return `[${label} | ${key}]\n\n${text}\n\n[End | ${key}]`;
}

// --- internal ---

/** Digits of a key: enough that nobody can write a text that contains its own key. Three decimal digits take one token. */
const KEY_DIGITS = 18;

function delimiterKey(label: string, text: string): string {
  for (let round = 0; ; round++) {
    const digest = hash('sha256', `${round}\n${label}\n${text}`, 'hex');
    const key = String(BigInt(`0x${digest}`)).slice(-KEY_DIGITS);
    if (!text.includes(key)) return key;
  }
}
