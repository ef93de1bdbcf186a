// The registry as a library: what there is, what a prompt would carry, one skill, one of its files.
//   node examples/library.mjs [folder of skills]
import { createSkillRegistry } from 'skill-registry';

const [, , folder] = process.argv;
const sources = folder ? [{ path: folder }] : [{ shipped: true }];
const registry = await createSkillRegistry({ config: { sources } });

for (const { skillId, description } of registry.list({ limit: 200 }).skills) {
  console.log(`${skillId}: ${description.slice(0, 60)}`);
}
console.log(await registry.context('review my change'));

const [first] = registry.list().skills;
if (first) {
  const { content, resources, message } = await registry.read(first.skillId);
  console.log(message);
  console.log(content.split('\n')[0]);
  const [file] = resources;
  if (file) console.log(file.path, (await registry.readResource(first.skillId, file.path)).size);
}
for (const { severity, file, message } of registry.problems()) console.error(`${severity}: ${file}: ${message}`);
await registry.close();
