// The client under test: a registry whose one source is the server of the suite, as a host would open it. It lists, and unless the
// scenario is about listing alone, reads each skill and then all of its files, also after a refusal.
import { createSkillRegistry } from '../../dist/extensions/skill_registry/index.js';

const print = (line) => process.stdout.write(`${line}\n`);
const url = process.argv.at(-1);
const registry = await createSkillRegistry({ cache: 'memory', config: { sources: [{ id: 'suite', mcp: { url } }] } });
const { skills } = registry.snapshot();
print(`${skills.length} skills ${JSON.stringify(registry.problems())}`);
const isLoading = !process.env.MCP_CONFORMANCE_SCENARIO?.endsWith('-no-prefetch');
for (const { id } of isLoading ? skills : []) {
  const attempt = async (what, read) => {
    try {
      await read();
      print(`${id} ${what} was read`);
    } catch (error) {
      print(`${id} ${what} was refused: ${error.code} ${error.message}`);
    }
  };
  await attempt('SKILL.md', () => registry.read(id));
  // An agent may go on whatever it was told.
  for (const { path } of registry.admin.resources(id)) await attempt(path, () => registry.readResource(id, path));
}
await registry.close();
