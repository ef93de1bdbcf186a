/** A text in tag characters, which models read and people do not see. */
export function tags(ascii: string): string {
  return [...ascii].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join('');
}
