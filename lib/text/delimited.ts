import { hash } from 'node:crypto';

/**
 * Puts `text` between two lines that it cannot contain: their key is a digest of it that does not occur in it. The same
 * label (one line) and text give the same result.
 */
export function delimited(label: string, text: string): string {
  for (let round = 0; ; round++) {
    const digest = hash('sha256', `${round}\n${label}\n${text}`, 'hex');
    const key = String(BigInt(`0x${digest}`)).slice(-KEY_DIGITS);
    if (!text.includes(key)) return `[${label} | ${key}]\n\n${text}\n\n[End | ${key}]`;
  }
}

// --- internal ---

/** Enough that nobody can write a text that contains its own key. Three decimal digits take one token. */
const KEY_DIGITS = 18;
