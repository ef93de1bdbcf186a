import { createBreaks } from '../../../lib/breaks/index.ts';
import type { Check, CheckInput } from './findings.ts';
import { type Finding, listChecks } from './findings.ts';
import { networkFindings } from './network.ts';
import { referenceFinder } from './references.ts';
import { type ScannedLine, scanLines } from './scanned-line.ts';
import { secretFindings } from './secrets.ts';
import { shellFindings } from './shell.ts';

/** What the new text reaches for and the old one did not: files, commands, hosts, secrets. */
export async function surfaceChecks({ before, after, path, files }: CheckInput): Promise<readonly Check[]> {
  if (after === null) return [];
  const finders: readonly (readonly [Check['kind'], Finder])[] = [
    ['references', referenceFinder(path, files)],
    ['shell', shellFindings],
    ['network', networkFindings],
    ['secrets', secretFindings],
  ];
  const takeBreak = createBreaks();
  const old = await distinctLines(before ?? '', path, takeBreak);
  const lines = await distinctLines(after, path, takeBreak);
  // A line that was there before reaches for nothing new.
  const added = [...lines].filter(([key]) => !old.has(key)).map(([, line]) => line);
  const found = await findAll(added.slice(0, MAX_LINES), finders, takeBreak);
  // The old text is only searched when there is something to compare with it.
  const known = found.size === 0 ? found : await findAll(old.values(), finders, takeBreak);
  const checks = finders.flatMap(([kind]) => {
    const findings = [...(found.get(kind) ?? [])].filter(([key]) => !known.get(kind)?.has(key));
    return listChecks(
      kind,
      findings.map(([, finding]) => finding),
    );
  });
  const first = added[MAX_LINES];
  if (!first) return checks;
  const text = `${added.length} lines are new; what they reach for was searched in the first ${MAX_LINES} only`;
  return [...checks, { kind: 'size', level: 'warning', text, line: first.line }];
}

// --- internal ---

/** Far more lines than any skill has; they are searched in a few seconds. */
const MAX_LINES = 100_000;

type Finder = (line: ScannedLine) => Iterable<Finding>;
type TakeBreak = () => Promise<void>;

/** The first of each line that reads the same and stands in the same kind of place. */
async function distinctLines(
  text: string,
  path: string,
  takeBreak: TakeBreak,
): Promise<ReadonlyMap<string, ScannedLine>> {
  const lines = new Map<string, ScannedLine>();
  for (const line of scanLines(text, path)) {
    await takeBreak();
    const key = `${line.place} ${line.text}`;
    if (!lines.has(key)) lines.set(key, line);
  }
  return lines;
}

/** The first finding of each key, by kind; only kinds that have some. */
async function findAll(
  lines: Iterable<ScannedLine>,
  finders: readonly (readonly [Check['kind'], Finder])[],
  takeBreak: TakeBreak,
): Promise<ReadonlyMap<Check['kind'], ReadonlyMap<string, Finding>>> {
  const all = new Map<Check['kind'], Map<string, Finding>>();
  for (const line of lines) {
    await takeBreak();
    for (const [kind, find] of finders) {
      for (const finding of find(line)) {
        const found = all.get(kind) ?? new Map<string, Finding>();
        if (!found.has(finding.key)) found.set(finding.key, finding);
        all.set(kind, found);
      }
    }
  }
  return all;
}
