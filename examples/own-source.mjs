// A source of your own: skills from anywhere, a database or a service for example.
//   node examples/own-source.mjs
import { createHash } from 'node:crypto';
import { createSkillRegistry } from 'skill-registry';

const texts = new Map([
  ['tea', '---\nname: tea\ndescription: How to brew tea.\n---\n\nBoil water. Wait three minutes.\n'],
]);

const source = {
  id: 'database',
  kind: 'database',
  location: 'memory',
  scan: async () => ({
    skills: [...texts].map(([id, text]) => ({
      id,
      qualifiedId: `database:${id}`,
      name: id,
      description: 'How to brew tea.',
      digest: `sha256:${createHash('sha256').update(text).digest('hex')}`,
    })),
    problems: [],
  }),
  readSkill: ({ id }) => Buffer.from(texts.get(id)),
  resources: () => [],
  readResource: () => Buffer.alloc(0),
  watchFolders: () => [],
  contains: () => false,
};

const registry = await createSkillRegistry({ config: { sources: [] } });
await registry.addSource(source);
console.log(await registry.context('tea'));
console.log((await registry.read('tea')).content);
await registry.close();
