import { splitFrontmatter } from '../../../core/skill/frontmatter.ts';
import { asMapping } from '../../../core/skill/gates.ts';
import type { SkillHeader } from '../../../core/skill/parse-skill.ts';
import { readYamlFields } from '../../../core/skill/yaml-fields.ts';
import { parsedText } from '../../history/changed-text.ts';
import { type Check, type CheckInput, type Fact, listChecks, quote } from './checks.ts';

export function fieldChecks({ before, after, isSkillFile, skillId }: CheckInput): readonly Check[] {
  if (!isSkillFile || after === null) return [];
  const now = parsedText(after, skillId).header;
  // Validation reports a text that cannot be loaded.
  if (!now) return [];
  const old = before === null ? undefined : parsedText(before, skillId).header;
  const lineOf = lineFinder(after);
  return [
    ...listChecks('identity', [
      // Validation reports when the name of a new skill is not that of its directory.
      ...(before === null ? [] : nameFacts(old?.name ?? skillId, now.name, lineOf)),
      ...(old ? labelFacts(old, now, lineOf) : []),
    ]),
    ...listChecks('visibility', [...visibilityFacts(old, now, lineOf)]),
    ...listChecks('description', old ? descriptionFacts(old, now, lineOf) : []),
    ...listChecks('permissions', permissionFacts(old, now, lineOf)),
  ];
}

/** Whether a description asks to be used for every task, or before other skills. */
export function claimsPrecedence(description: string): boolean {
  return CLAIMS.test(description.replace(/\s+/g, ' '));
}

// --- internal ---

const SKILLS = '(?:any|all|every|each)(?: of the)?(?: other)? skills?';
const TASKS =
  '(?:tasks?|requests?|questions?|prompts?|conversations?|messages?|turns?|sessions?|responses?|repl(?:y|ies)|answers?|queries|query)';
const USE = '(?:use|load|read|invoke|call|apply|run|pick|choose|prefer|activate|consult)';
const KIND =
  'that|which|involving|about|related|where|in|on|for|with|to|from|of|against|using|regarding|concerning|like';

/** Matches six of the 1,726 descriptions of the corpus. */
const CLAIMS = new RegExp(
  [
    `\\b(?:before|over|instead of|rather than|prior to|ahead of) ${SKILLS}\\b`,
    '\\bany other skill',
    `\\b(?:for|on|at|in|to|with|before|starting|during) (?:absolutely |literally )?(?:any|every|each|all)(?: user| single)? ${TASKS}\\b(?! (?:${KIND}|\\w+ment)\\b)`,
    `\\b${USE}(?: this)?(?: skill)? (?:always|first)\\b(?! (?:when|if|to|on|for)\\b)`,
    `\\balways ${USE}(?: this| it)?(?: skill)?(?:[.!,;]|$| first\\b)`,
    '\\b(?:takes? precedence|(?:highest|top) priority|no matter (?:what|which) (?:the )?(?:task|user|request)|whatever the (?:task|request|user)|(?:overrides?|replaces?) (?:all|any|every) other|must be (?:used|loaded|read|invoked) first)\\b',
  ].join('|'),
  'i',
);

type LineOf = (field: string) => number | undefined;
type Header = SkillHeader;

/** Fields that give a skill rights in the client that loads it, or decide how it runs. */
const POWERS = new Set(
  (
    'hooks model effort context agent background shell tools disallowed-tools permissions permission-mode ' +
    'permissionMode mcp-servers mcpServers env command-dispatch command-tool command-arg-mode sandbox_profile'
  ).split(' '),
);
const CLIENT_BLOCKS: readonly string[] = ['openclaw', 'clawdbot'];
const LABELS = ['version', 'author', 'license', 'compatibility'] as const;

function lineFinder(text: string): LineOf {
  const { yaml, yamlLine } = splitFrontmatter(text);
  if (yaml === undefined) return () => undefined;
  const fields = readYamlFields(yaml.slice(0, 64 * 1024));
  return (field) => (Object.hasOwn(fields.data, field) ? yamlLine + fields.lineOf(field) - 1 : undefined);
}

function nameFacts(old: string, now: string, lineOf: LineOf): readonly Fact[] {
  if (now === old) return [];
  return [{ level: 'warn', what: `Renames the skill: ${quote(old, 80)} -> ${quote(now, 80)}`, line: lineOf('name') }];
}

function labelFacts(old: Header, now: Header, lineOf: LineOf): readonly Fact[] {
  const others = keysOf(old.extra, now.extra).filter((key) => !POWERS.has(key));
  const metadata = keysOf(old.metadata, now.metadata).filter((key) => !CLIENT_BLOCKS.includes(key));
  return [
    ...LABELS.flatMap((key) => changed(key, old[key], now[key], lineOf(key))),
    ...others.flatMap((key) => changed(key, old.extra[key], now.extra[key], lineOf(key))),
    ...metadata.flatMap((key) => changed(`metadata.${key}`, old.metadata[key], now.metadata[key], lineOf('metadata'))),
  ];
}

function* visibilityFacts(old: Header | undefined, now: Header, lineOf: LineOf): Generator<Fact> {
  if (now.modelInvocable !== (old?.modelInvocable ?? true)) {
    const what = now.modelInvocable
      ? 'Turns off `disable-model-invocation`: models may load the skill'
      : 'Turns on `disable-model-invocation`: models no longer see the skill; an agent that proposes it can then only propose to remove it';
    yield { level: old ? 'warn' : 'info', what, line: lineOf('disable-model-invocation') };
  }
  if (now.userInvocable !== (old?.userInvocable ?? true)) {
    const what = now.userInvocable ? 'The skill gets a slash command' : 'The skill loses its slash command';
    yield { what: `${what} (\`user-invocable\`)`, line: lineOf('user-invocable') };
  }
  if (!sameValue(old?.gate, now.gate)) {
    const what = `Changes the conditions under which models see it: ${valueText(old?.gate)} -> ${valueText(now.gate)}`;
    yield { level: old?.gate ? 'warn' : 'info', what, line: lineOf('metadata') };
  }
  if (claimsPrecedence(now.description) && !(old && claimsPrecedence(old.description))) {
    const what = 'The description asks to be taken for every task, or before other skills';
    yield { level: 'warn', what, quoted: now.description, line: lineOf('description') };
  }
  if (!old) return;
  yield* changed('tags', old.tags, now.tags, lineOf('tags'));
  yield* changed('trigger_keywords', old.triggerKeywords, now.triggerKeywords, lineOf('trigger_keywords'));
  yield* changed('requires', old.requires, now.requires, lineOf('requires'));
}

function descriptionFacts(old: Header, now: Header, lineOf: LineOf): readonly Fact[] {
  const ofPaths = changed('paths', old.paths, now.paths, lineOf('paths') ?? lineOf('metadata'));
  if (now.description === old.description) return ofPaths;
  const what = `Changes the description, which decides when the skill is picked: ${quote(old.description)} -> ${quote(now.description)}`;
  return [{ what, line: lineOf('description') }, ...ofPaths];
}

function permissionFacts(old: Header | undefined, now: Header, lineOf: LineOf): readonly Fact[] {
  const before = new Set(old?.allowedTools);
  const tools = new Set(now.allowedTools);
  const line = lineOf('allowed-tools');
  const powers = keysOf(old?.extra, now.extra).filter((key) => POWERS.has(key));
  const facts: readonly Fact[] = [
    ...powers.flatMap((key) => changed(key, old?.extra[key], now.extra[key], lineOf(key))),
    ...CLIENT_BLOCKS.flatMap((block) => {
      const [was, is] = [clientInstructions(old?.metadata[block]), clientInstructions(now.metadata[block])];
      return keysOf(was, is).flatMap((key) =>
        changed(`metadata.${block}.${key}`, was[key], is[key], lineOf('metadata')),
      );
    }),
  ];
  return [
    ...[...tools]
      .filter((tool) => !before.has(tool))
      .map((tool): Fact => ({ level: 'warn', what: 'Asks permission for', quoted: tool, line })),
    ...[...before]
      .filter((tool) => !tools.has(tool))
      .map((tool): Fact => ({ what: 'No longer asks permission for', quoted: tool })),
    ...facts.map((fact): Fact => ({ ...fact, level: 'warn' })),
  ];
}

function clientInstructions(block: unknown): Readonly<Record<string, unknown>> {
  const { os, requires, always, emoji, homepage, ...instructions } = asMapping(block) ?? {};
  return instructions;
}

function changed(key: string, old: unknown, now: unknown, line: number | undefined): readonly Fact[] {
  if (sameValue(old, now)) return [];
  const field = `the field ${quote(key, 40)}`;
  if (now === undefined) return [{ what: `Removes ${field}, ${valueText(old)}`, line }];
  if (old === undefined) return [{ what: `Sets ${field} to ${valueText(now)}`, line }];
  return [{ what: `Changes ${field}: ${valueText(old)} -> ${valueText(now)}`, line }];
}

function keysOf(...records: readonly (Readonly<Record<string, unknown>> | undefined)[]): readonly string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record ?? {})))];
}

function sameValue(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function valueText(value: unknown): string {
  if (value === undefined) return 'nothing';
  return quote(typeof value === 'string' ? value : JSON.stringify(value));
}
