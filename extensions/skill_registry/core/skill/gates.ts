import { type Fields, shown } from './field-values.ts';
import { parseMapping } from './yaml-fields.ts';

/** When models see a skill: `metadata.openclaw` of OpenClaw (older: `metadata.clawdbot`). Lists may be empty. */
export interface Gate {
  /** Operating systems such as `darwin`, `linux`, `win32`: this system must be one of them. */
  readonly os: readonly string[];
  /** Programs: all must be installed. */
  readonly bins: readonly string[];
  /** Programs: one must be installed. */
  readonly anyBins: readonly string[];
  /** Environment variables: all must be set. */
  readonly env: readonly string[];
  /** Dotted paths of settings of the host: all must be truthy. */
  readonly config: readonly string[];
}

export interface GateEnvironment {
  readonly platform: string;
  hasProgram(name: string): boolean;
  hasVariable(name: string): boolean;
  hasSetting(path: string): boolean;
}

/** `always: true` keeps only `os`. A block may be text: some tools write it so. `report` gets each wrong value. */
export function readGate(metadata: Fields, report: (message: string) => void): Gate | undefined {
  for (const name of ['openclaw', 'clawdbot']) {
    const block = readBlock(metadata, `metadata.${name}`, report);
    if (!block) continue;
    const requires = block.always === true ? {} : (readBlock(block, `metadata.${name}.requires`, report) ?? {});
    const list = (key: string): readonly string[] =>
      readTexts(requires[key], `metadata.${name}.requires.${key}`, report);
    const gate = {
      os: readTexts(block.os, `metadata.${name}.os`, report),
      bins: list('bins'),
      anyBins: list('anyBins'),
      env: list('env'),
      config: list('config'),
    };
    return Object.values(gate).some((texts) => texts.length > 0) ? gate : undefined;
  }
  return undefined;
}

/** A mapping, or one as text in JSON or in YAML with brackets. */
export function asMapping(value: unknown): Fields | undefined {
  if (typeof value === 'string' && value.trim().startsWith('{')) {
    const parsed = parseMapping(value.trim());
    return 'data' in parsed ? parsed.data : undefined;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function draftReason(fillsLeft: number | undefined): string | undefined {
  if (!fillsLeft) return undefined;
  return `it is a draft, and ${fillsLeft === 1 ? '1 FILL is' : `${fillsLeft} FILL are`} left in it`;
}

/** Why models do not see the skill here, for a person; undefined when they do. */
export function gateClosedBecause(gate: Gate, here: GateEnvironment): string | undefined {
  const missingOf = (what: string, names: readonly string[], has: (name: string) => boolean): string[] => {
    const missing = names.filter((name) => !has(name));
    return missing.length > 0 ? [`the ${what}${missing.length === 1 ? '' : 's'} ${missing.join(', ')}`] : [];
  };
  if (gate.os.length > 0 && !gate.os.includes(here.platform)) {
    return `it is for ${gate.os.join(', ')} and this is ${here.platform}`;
  }
  const anyBin = gate.anyBins.length === 0 || gate.anyBins.some((name) => here.hasProgram(name));
  const reasons = [
    ...missingOf('program', gate.bins, here.hasProgram),
    ...(anyBin ? [] : [`one of the programs ${gate.anyBins.join(', ')}`]),
    ...missingOf('environment variable', gate.env, here.hasVariable),
    ...missingOf('setting', gate.config, here.hasSetting),
  ];
  return reasons.length > 0 ? `it needs ${reasons.join(', and ')}` : undefined;
}

// --- internal ---

function readBlock(from: Fields, path: string, report: (message: string) => void): Fields | undefined {
  const value = from[path.split('.').at(-1) as string];
  if (value === undefined || value === null) return undefined;
  const block = asMapping(value);
  // YAML reads `{os:"linux"}` as one key without a value.
  const keyWithColon = block && Object.keys(block).find((key) => /^\w+:/.test(key));
  if (block && keyWithColon === undefined) return block;
  const got = keyWithColon === undefined ? shown(value) : `the key ${shown(keyWithColon)}`;
  const effect = block
    ? 'that key was ignored. Put a space after its colon'
    : 'it was ignored. Write it as YAML or JSON';
  report(`"${path}" should be a mapping, got ${got}; ${effect}.`);
  return block;
}

function readTexts(value: unknown, path: string, report: (message: string) => void): readonly string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  const texts = Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
  if (!Array.isArray(value) || texts.length < value.length) {
    const used = texts.length > 0 ? 'only its texts were used' : 'it was ignored';
    report(`"${path}" should be a list of texts, got ${shown(value)}; ${used}. Write a list such as [a, b].`);
  }
  return texts;
}
