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

/**
 * The gate in a skill's `metadata`; undefined when there is none. `always: true` lifts everything but `os`.
 *
 * The value may be a JSON text, as some tools write it on one line.
 */
export function readGate(metadata: unknown): Gate | undefined {
  const block = asRecord(asRecord(metadata)?.openclaw) ?? asRecord(asRecord(metadata)?.clawdbot);
  if (!block) return undefined;
  const requires = block.always === true ? {} : (asRecord(block.requires) ?? {});
  const gate = {
    os: texts(block.os),
    bins: texts(requires.bins),
    anyBins: texts(requires.anyBins),
    env: texts(requires.env),
    config: texts(requires.config),
  };
  return Object.values(gate).some((list) => list.length > 0) ? gate : undefined;
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

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value === 'string' && value.trim().startsWith('{')) {
    try {
      return asRecord(JSON.parse(value));
    } catch {
      return undefined;
    }
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

function texts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
