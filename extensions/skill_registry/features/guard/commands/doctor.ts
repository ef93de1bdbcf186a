import { plural, printable } from '../../../../../lib/text/index.ts';
import type { CommandTerminal, DoctorPart, OpenRegistry } from '../../../core/command-line.ts';

export async function verdicts({ registry }: OpenRegistry, terminal: CommandTerminal): Promise<DoctorPart> {
  await terminal.during('Inspecting skills', registry.admin.inspectSkills(), 'list, search and show work meanwhile');
  const inspected = await inspectAll(registry);
  const lines = inspected.map(({ skill_id: id, verdict, findings: [first, ...others] }) => {
    const where = first?.line === undefined ? first?.file : `${first.file}:${first.line}`;
    const found = others.length === 0 ? '' : `, and ${others.length} more`;
    return printable(`  ${verdict.padEnd(5)}  ${id}\n    ${first?.message} (${where}${found})`);
  });
  const title = `Inspection: ${plural(inspected.length, 'skill')} to look at; skill-registry inspect <id> tells more`;
  return { order: 4, fields: { inspected }, ...(inspected.length > 0 && { section: { title, lines } }) };
}

// --- internal ---

async function inspectAll({ admin, snapshot }: OpenRegistry['registry']) {
  const found = [];
  for (const { id, qualifiedId, remote } of snapshot().skills) {
    // The source inspected each file when it fetched it.
    if (remote) continue;
    const { verdict, findings } = await admin.trustOf(qualifiedId);
    if (verdict !== 'info')
      found.push({ skill_id: id, verdict, findings: findings.filter(({ level }) => level !== 'info') });
  }
  return [...found.filter(({ verdict }) => verdict === 'block'), ...found.filter(({ verdict }) => verdict === 'warn')];
}
