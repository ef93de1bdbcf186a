import { shown } from './field-values.ts';
import { parseMapping } from './yaml-fields.ts';

/**
 * What a skill needs to be of use, as OpenClaw writes it in `metadata.openclaw` (older: `metadata.clawdbot`); all lists are
 * optional.
 */
export interface Gate {
  /** `darwin`, `linux`, `win32`; one of them. */
  readonly os: readonly string[];
  /** Programs, all of them. */
  readonly bins: readonly string[];
  /** Programs, one of them. */
  readonly anyBins: readonly string[];
  /** Environment variables, all of them. */
  readonly env: readonly string[];
  /** Dotted paths into the host's settings that must be truthy. */
  readonly config: readonly string[];
}

/** What a gate is held against. */
export interface GateSurroundings {
  readonly platform: string;
  hasProgram(name: string): boolean;
  hasVariable(name: string): boolean;
  hasSetting(path: string): boolean;
}

type Mapping = Readonly<Record<string, unknown>>;

/**
 * The gate in a skill's `metadata`; undefined when there is none. `always: true` lifts everything but `os`. A block may be a
 * text, as some tools write it on one line.
 *
 * @param wrong - Told of everything that is not as it should be; what can be read counts all the same.
 */
export function readGate(metadata: Mapping, wrong: (message: string) => void): Gate | undefined {
  for (const name of ['openclaw', 'clawdbot']) {
    const block = readBlock(metadata, `metadata.${name}`, wrong);
    if (!block) continue;
    const requires = block.always === true ? {} : (readBlock(block, `metadata.${name}.requires`, wrong) ?? {});
    const list = (key: string): readonly string[] =>
      readTexts(requires[key], `metadata.${name}.requires.${key}`, wrong);
    const gate = {
      os: readTexts(block.os, `metadata.${name}.os`, wrong),
      bins: list('bins'),
      anyBins: list('anyBins'),
      env: list('env'),
      config: list('config'),
    };
    return Object.values(gate).some((texts) => texts.length > 0) ? gate : undefined;
  }
  return undefined;
}

/** A mapping, also one written as a text: JSON, or YAML in brackets. Undefined for anything else. */
export function asMapping(value: unknown): Mapping | undefined {
  if (typeof value === 'string' && value.trim().startsWith('{')) {
    const parsed = parseMapping(value.trim());
    return 'data' in parsed ? parsed.data : undefined;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Mapping) : undefined;
}

/** Why models do not see a draft yet, and what to do; undefined of anything else. */
export function draftReason(fillsLeft: number | undefined): string | undefined {
  if (!fillsLeft) return undefined;
  return `it is a draft, and ${fillsLeft === 1 ? '1 FILL is' : `${fillsLeft} FILL are`} left in it`;
}

/** Why the gate is closed, for a person; undefined when it is open. */
export function closedBecause(gate: Gate, here: GateSurroundings): string | undefined {
  const lacking = (what: string, names: readonly string[], has: (name: string) => boolean): string[] => {
    const missing = names.filter((name) => !has(name));
    return missing.length > 0 ? [`${what} ${missing.join(', ')}`] : [];
  };
  if (gate.os.length > 0 && !gate.os.includes(here.platform)) {
    return `it is for ${gate.os.join(', ')} and this is ${here.platform}`;
  }
  const anyBin = gate.anyBins.length === 0 || gate.anyBins.some((name) => here.hasProgram(name));
  const reasons = [
    ...lacking('the program(s)', gate.bins, here.hasProgram),
    ...(anyBin ? [] : [`one of the programs ${gate.anyBins.join(', ')}`]),
    ...lacking('the environment variable(s)', gate.env, here.hasVariable),
    ...lacking('the setting(s)', gate.config, here.hasSetting),
  ];
  return reasons.length > 0 ? `it needs ${reasons.join(', and ')}` : undefined;
}

// --- internal ---

/** The mapping at the last part of `path`; undefined, and told of, when it is none. */
function readBlock(from: Mapping, path: string, wrong: (message: string) => void): Mapping | undefined {
  const value = from[path.split('.').at(-1) as string];
  if (value === undefined || value === null) return undefined;
  const block = asMapping(value);
  // `{os:"linux"}` is one key without a value in YAML.
  const glued = block && Object.keys(block).find((key) => /^\w+:/.test(key));
  if (block && glued === undefined) return block;
  const got = glued === undefined ? shown(value) : `the key ${shown(glued)}`;
  const done = block ? 'that key was ignored. Put a space after its colon' : 'it was ignored. Write it as YAML or JSON';
  wrong(`"${path}" should be a mapping, got ${got}; ${done}.`);
  return block;
}

function readTexts(value: unknown, path: string, wrong: (message: string) => void): readonly string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  const texts = Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
  if (!Array.isArray(value) || texts.length < value.length) {
    const used = texts.length > 0 ? 'only its texts were used' : 'it was ignored';
    wrong(`"${path}" should be a list of texts, got ${shown(value)}; ${used}. Write a list such as [a, b].`);
  }
  return texts;
}
