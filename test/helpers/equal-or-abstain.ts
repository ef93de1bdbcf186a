import { expect } from 'vitest';
import { scanFields } from '../../extensions/skill_registry/core/skill/scan-fields.ts';
import { readWithPackage } from '../../extensions/skill_registry/core/skill/yaml-fields.ts';

/** The line scan of frontmatter has to say what the `yaml` package says, or nothing. @returns whether it says something. */
export function expectEqualOrAbstain(yaml: string): boolean {
  const both = compare(yaml);
  if (both) expect(both.scan, yaml).toEqual(both.yaml);
  return both !== undefined;
}

// --- internal ---

/** Nothing when the scan abstains; else what it says beside what the package says. */
function compare(yaml: string): { scan: unknown; yaml: unknown } | undefined {
  const text = yaml.replace(/\r\n?/g, '\n');
  const scanned = scanFields(text);
  if (!scanned) return undefined;
  const read = readWithPackage(yaml);
  const keys = [...new Set([...Object.keys(read.data), ...scanned.lines.keys()])];
  return {
    scan: {
      data: scanned.data,
      order: Object.keys(scanned.data),
      lines: keys.map((key) => scanned.lines.get(key)),
      wrong: scanned.repaired,
    },
    yaml: {
      data: read.data,
      order: Object.keys(read.data),
      lines: keys.map(read.lineOf),
      wrong: [...read.repaired, ...(read.error ? [read.error.message] : [])],
    },
  };
}
