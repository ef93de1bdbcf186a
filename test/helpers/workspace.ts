import { join } from 'node:path';
import type { SkillLoadedEvent, SkillRegistry } from 'skill-registry';
import { runTool, type ToolResult, type TurnContext } from 'skill-registry/kernel';
import { workspaceTools } from '../../extensions/workspace_files/tools.ts';
import { openRoot } from './open-registry.ts';
import { skillMd, type Tree, tempFolder } from './temp-folder.ts';

/** The file tools on a root of their own, beside a real registry. */
export interface Workspace {
  readonly root: string;
  readonly registry: SkillRegistry;
  /** How often a restart was asked for. */
  restarts(): number;
  /** @param turn - Default: an agent that sees everything. */
  call(tool: string, args: unknown, turn?: TurnContext): Promise<ToolResult>;
  /** The code of a refusal; the whole result when it is none. */
  codeOf(tool: string, args: unknown, turn?: TurnContext): Promise<unknown>;
  /** Every load so far. */
  readonly loaded: readonly SkillLoadedEvent[];
}

export const MAX_BYTES = 2000;

/**
 * @param config - Of the registry; its source is `skills`, with one skill `good`, unless it names others.
 * @param options.trusted - Whether somebody has approved the root. Default: true.
 */
export async function workspace(
  tree: Tree = {},
  config: Readonly<Record<string, unknown>> = {},
  { trusted = true }: { readonly trusted?: boolean } = {},
): Promise<Workspace> {
  const root = tempFolder({
    'skills/good/SKILL.md': skillMd({ name: 'good', description: 'A good skill.' }),
    'extensions/box/manifest.yaml': 'id: box\nname: Box\nversion: 1.0.0\nagent: {}\n',
    'extensions/box/good/references/guide.md': 'Good guide.',
    'extensions/box/sibling/private.md': 'private',
    ...tree,
  });
  const loaded: SkillLoadedEvent[] = [];
  const registry = await openRoot(root, {
    config: { sources: [{ path: 'skills' }], ...config },
    onSkillLoaded: (event) => loaded.push(event),
    trust: trusted,
  });
  let restarts = 0;
  const restart = (): void => void restarts++;
  const touched = (): void => undefined;
  const tools = new Map(
    workspaceTools({ root, trusted, maxBytes: MAX_BYTES, registry, restart, touched }).map((tool) => [tool.name, tool]),
  );
  const call = async (name: string, args: unknown, turn: TurnContext = {}): Promise<ToolResult> => {
    const tool = tools.get(name);
    if (!tool) throw new Error(`no tool ${name}`);
    return runTool(tool, args, { turn, signal: new AbortController().signal });
  };
  return {
    root,
    registry,
    restarts: () => restarts,
    call,
    loaded,
    async codeOf(name, args, turn) {
      const result = await call(name, args, turn);
      return result.success ? result : (result as { error: { code: string } }).error.code;
    },
  };
}

/** The folder in which the traps of `setTraps` are set. */
export function boxOf({ root }: Workspace): string {
  return join(root, 'extensions', 'box', 'good');
}
