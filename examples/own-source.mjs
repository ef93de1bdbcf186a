// A source of your own: skills from anywhere, a database or a service for example.
//   node examples/own-source.mjs
import { createSkillRegistry, defineSource } from 'skill-registry';

const rows = [{ id: 'tea', description: 'How to brew tea.', body: 'Boil water. Wait three minutes.' }];

const source = defineSource({
  id: 'database',
  // Asked at every refresh.
  skills: async () => rows,
});

const registry = await createSkillRegistry({ config: { sources: [] } });
await registry.addSource(source);
console.log(await registry.context('tea'));
console.log((await registry.read('tea')).content);
await registry.close();
