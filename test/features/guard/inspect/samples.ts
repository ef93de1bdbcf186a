import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InspectedFile } from '../../../../extensions/skill_registry/core/skill/guard.ts';

export interface SkillSample {
  readonly title: string;
  readonly files: readonly InspectedFile[];
}

/** Bytes that a text cannot hold. */
const BYTES: Readonly<Record<string, string>> = {
  ELF: '\x7fELF\x02\x01\x01\0',
  ZIP: 'PK\x03\x04\x14\0\0\0',
  PNG: '\x89PNG\r\n\x1a\n\0\0',
};

/** The skills of a file of samples: `=== title`, then each file behind `--- path`. */
export function readSamples(name: string): readonly SkillSample[] {
  const text = readFileSync(join(import.meta.dirname, 'samples', name), 'utf8');
  return text
    .split(/^=== /m)
    .slice(1)
    .map((part) => {
      const [head = '', ...files] = part.split(/^--- (?=\S+$)/m);
      return { title: head.trim(), files: files.map(fileOf) };
    });
}

function fileOf(part: string): InspectedFile {
  const end = part.indexOf('\n');
  const text = part
    .slice(end + 1)
    .replace(/\{\{BOM\}\}/, '\ufeff')
    .replace(/\{\{TAGS:(.*?)\}\}/g, (_, says: string) =>
      [...says].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join(''),
    );
  const name = /^\{\{(\w+)\}\}/.exec(text)?.[1];
  return { path: part.slice(0, end), bytes: name ? Buffer.from(BYTES[name] ?? '', 'latin1') : Buffer.from(text) };
}
