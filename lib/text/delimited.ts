import { hash } from 'node:crypto';

/**
 * A text that somebody else wrote, between two lines that nothing in it can pass for: both hold a key that is made of the text
 * and does not occur in it. The same label and text give the same bytes, and what stands beside them changes nothing.
 *
 * @param label - One line: what the text is.
 */
export function delimited(label: string, text: string): string {
  const key = keyOf(label, text);
  return `[${label} | ${key}]\n\n${text}\n\n[End | ${key}]`;
}

// --- internal ---

/** So many that nobody can write a text in which its own key stands; decimal ones take three to a token. */
const KEY_DIGITS = 18;

function keyOf(label: string, text: string): string {
  for (let round = 0; ; round++) {
    const digest = hash('sha256', `${round}\n${label}\n${text}`, 'hex');
    const key = String(BigInt(`0x${digest}`)).slice(-KEY_DIGITS);
    if (!text.includes(key)) return key;
  }
}
