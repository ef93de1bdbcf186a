/**
 * Agents whose skill folders can be a source. Each one's own folders, relative to the project and to the home
 * directory, as its documentation names them; many also read `.agents/skills`, which is `agents`.
 *
 * claude: code.claude.com/docs/en/skills. codex: developers.openai.com/codex/skills (names `.agents/skills`;
 * `.codex/skills` is read too). copilot: docs.github.com, "About agent skills". cursor: cursor.com/docs/context/skills.
 * gemini: geminicli.com/docs/cli/skills. goose: block.github.io/goose/docs/guides/context-engineering/using-skills.
 * openclaw: docs.openclaw.ai/tools/skills. opencode: opencode.ai/docs/skills. pi: pi.dev/docs/latest/skills. windsurf:
 * docs.windsurf.com/windsurf/cascade/skills.
 */
export const PRESETS = {
  agents: { project: '.agents/skills', home: '.agents/skills' },
  claude: { project: '.claude/skills', home: '.claude/skills' },
  codex: { project: '.codex/skills', home: '.codex/skills' },
  copilot: { project: '.github/skills', home: '.copilot/skills' },
  cursor: { project: '.cursor/skills', home: '.cursor/skills' },
  gemini: { project: '.gemini/skills', home: '.gemini/skills' },
  // The older name of copilot.
  github: { project: '.github/skills', home: '.copilot/skills' },
  goose: { project: '.goose/skills', home: '.config/goose/skills' },
  openclaw: { project: 'skills', home: '.openclaw/skills' },
  opencode: { project: '.opencode/skills', home: '.config/opencode/skills' },
  pi: { project: '.pi/skills', home: '.pi/agent/skills' },
  windsurf: { project: '.windsurf/skills', home: '.codeium/windsurf/skills' },
} as const;
export type PresetName = keyof typeof PRESETS;
/** Every preset: of project and person, or of the project alone. */
export const PRESET_GROUPS = ['all', 'project'] as const;
export type PresetGroup = (typeof PRESET_GROUPS)[number];

export function isPresetGroup(name: PresetName | PresetGroup): name is PresetGroup {
  return (PRESET_GROUPS as readonly string[]).includes(name);
}

/** Who also reads the folders of another preset, as the same pages say. */
export const ALSO_READ_BY: Partial<Record<PresetName, readonly PresetName[]>> = {
  agents: ['codex', 'copilot', 'cursor', 'gemini', 'goose', 'openclaw', 'opencode', 'pi', 'windsurf'],
  claude: ['copilot', 'cursor', 'goose', 'opencode'],
  codex: ['cursor'],
};
export const PRESET_NAMES: readonly PresetName[] = Object.keys(PRESETS) as PresetName[];
