import { boot, type Kernel } from 'skill-registry/kernel';
import { onTestFinished } from 'vitest';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';
import { type AtEnd, skillMd, type Tree, tempFolder } from './temp-folder.ts';

export interface BootedRoot {
  readonly root: string;
  readonly kernel: Kernel;
  readonly model: ScriptedModel;
}

/**
 * The whole kernel over a temporary root, with a model that says "Done." to everything; shut down when the test has finished,
 * unless told otherwise.
 *
 * @param config - Of the registry. Default: the skills of the root, then the shipped ones.
 */
export async function bootRoot(
  tree: Tree = {},
  config: Readonly<Record<string, unknown>> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<BootedRoot> {
  const root = tempFolder(tree, atEnd);
  const model = await scriptedModel(() => ({ text: 'Done.' }), atEnd);
  const kernel = await boot({ root, environment: model.environment, config: { skill_registry: config } });
  atEnd(() => kernel.shutdown());
  return { root, kernel, model };
}

/** A skill below `skills/` whose description is `Does <id>.` and whose body is `Body of <id>.`, unless given. */
export function skill(id: string, fields: Readonly<Record<string, string>> = {}, body = `Body of ${id}.`): Tree {
  return { [`skills/${id}/SKILL.md`]: skillMd({ name: id, description: `Does ${id}.`, ...fields }, body) };
}

/** An agent that is a manifest and files beside it. @param block - Lines of its `agent` block in flow form: `model: x`. */
export function agent(id: string, block: string, files: Tree = {}): Tree {
  const head = `id: ${id}\nname: ${id}\nversion: 1.0.0\ndescription: Helps.\ndepends_on: [skill_registry]\n`;
  return {
    [`extensions/${id}/manifest.yaml`]: `${head}agent: { integration_mode: tool, ${block} }\n`,
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`extensions/${id}/${name}`, text])),
  };
}
