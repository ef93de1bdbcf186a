import { relative, resolve } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { withFallback } from '../../../../lib/errors/index.ts';
import { readNamedFile } from '../../../../lib/files/index.ts';
import { Catalog } from '../../core/catalog/catalog.ts';
import { DEFAULT_LIMITS } from '../../core/config/config-keys.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { PROFILES } from '../validate/profiles.ts';
import type { SkillCheck, ValidateSkillOptions } from '../validate/validate-skill.ts';
import { createPackSource, MAX_PACK_BYTES } from './pack-source.ts';
import { parsePromptPack } from './prompt-pack.ts';

/** All problems of loading the pack, and tools in `allowed-tools` that it does not declare. Runs nothing. */
export async function checkPack(
  path: string,
  { profile = 'spec', cwd = process.cwd() }: ValidateSkillOptions = {},
): Promise<SkillCheck> {
  const file = resolve(cwd, path);
  const pack = createPackSource({
    id: 'pack',
    file,
    allowOutside: false,
    profile: PROFILES.find(({ name }) => name === profile),
    preload: false,
  });
  const catalog = new Catalog([pack], { limits: DEFAULT_LIMITS, callHook: (_name, hook) => hook() });
  const { byQualifiedId, problems } = await catalog.refresh();
  await catalog.close();
  const found = [...problems, ...unknownTools([...byQualifiedId.values()], file)];
  const linesOf = (severity: Problem['severity']): readonly string[] =>
    found.filter((problem) => problem.severity === severity).map((problem) => lineOf(problem, file, cwd));
  const findings = found.map(({ details: _details, ...finding }) => finding);
  return { errors: linesOf('error'), warnings: linesOf('warning'), findings, file };
}

// --- internal ---

function unknownTools(skills: readonly Skill[], file: string): readonly Problem[] {
  const tools = toolsOf(file);
  return skills.flatMap((skill) => {
    // `Bash(git:*)` means the tool Bash.
    const names = [...new Set(skill.allowedTools.map((tool) => tool.replace(/\(.*$/s, '')))];
    const unknown = names.filter((name) => !tools.has(name));
    if (unknown.length === 0) return [];
    const message = `allowed-tools of "${skill.id}" names ${unknown.join(', ')}, which the pack does not declare in tools. Declare them there, or remove them from allowed-tools.`;
    return [{ code: 'PACK_TOOL_UNKNOWN', severity: 'warning', file: skill.file, message, details: { tools: unknown } }];
  });
}

function toolsOf(file: string): ReadonlySet<string> {
  return withFallback(
    () => parsePromptPack(readNamedFile(file, MAX_PACK_BYTES).toString('utf8'), file).pack?.tools ?? new Set(),
    new Set(),
  );
}

function lineOf({ code, file, line, message }: Problem, pack: string, cwd: string): string {
  const where = file === pack ? '' : `${relative(cwd, file)}: `;
  return `${where}${code}${line ? ` (line ${line})` : ''}: ${message}`;
}
