import type { Problem } from 'skill-registry/kernel';
import type { SkillRegistryConfig, ToolName } from '../../core/config/config.ts';
import type { ConfigPart } from '../../core/config/config-keys.ts';
import { listOf, oneOf } from '../../core/config/readers.ts';

/** The design of another program whose tools are given, too. */
export type Dialect = 'bernstein' | 'operator' | 'promptkit';

const DIALECT_TOOLS: Readonly<Record<Dialect, readonly ToolName[]>> = {
  bernstein: ['load_skill'],
  operator: ['skill'],
  promptkit: ['skill__activate', 'skill__read_resource'],
};
const DIALECTS = Object.keys(DIALECT_TOOLS) as readonly Dialect[];

export const dialectsConfig: ConfigPart = {
  keys: { dialect: { read: listOf(oneOf(...DIALECTS)), default: [], after: 'tools' } },
  tools: [
    { name: 'load_skill', after: 'list_proposals' },
    { name: 'skill' },
    { name: 'skill__activate' },
    { name: 'skill__read_resource' },
  ],
  complete(read, positionOf) {
    const added = dialectTools(read.dialect);
    const problems = DIALECTS.flatMap((dialect) => {
      const only = dialectTools([dialect]).filter((tool) => read.tools.includes(tool) && !added.includes(tool));
      return only.length > 0 ? [toolOfDialect(only, dialect, positionOf(['tools'], read.tools))] : [];
    });
    const config: SkillRegistryConfig = { ...read, tools: [...new Set([...read.tools, ...added])] };
    return { config, problems };
  },
};

// --- internal ---

function dialectTools(dialects: readonly Dialect[]): readonly ToolName[] {
  return dialects.flatMap((dialect) => DIALECT_TOOLS[dialect]);
}

function toolOfDialect(tools: readonly string[], dialect: Dialect, position: Pick<Problem, 'file' | 'line'>): Problem {
  const message = `Config "tools" names ${tools.join(' and ')}, which the key \`dialect\` offers now. It still works. Write dialect: [${dialect}] instead.`;
  return { code: 'CONFIG_KEY_INVALID', severity: 'warning', ...position, message, details: { key: 'tools' } };
}
