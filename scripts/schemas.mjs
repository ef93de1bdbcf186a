// Writes dist/schemas/, JSON Schemas for editors, from the code that reads the files. The build runs it from sources.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { registryConfig } from '../extensions/skill_registry/config.ts';
import { manifestSchema } from '../kernel/boot/manifest.ts';
import { frontmatterSchema } from './frontmatter-schema.ts';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

const page = readFileSync(join('docs', 'configuration.md'), 'utf8');
write('config', 'data/skill_registry/config.yaml of a root', described(registryConfig.schema, page));
write('manifest', 'manifest.yaml of an extension', manifestSchema());
write('frontmatter', 'The frontmatter of a SKILL.md', frontmatterSchema());

function write(name, title, schema) {
  mkdirSync(join('dist', 'schemas'), { recursive: true });
  const text = JSON.stringify({ $schema: DRAFT, title, ...schema }, null, 2);
  writeFileSync(join('dist', 'schemas', `${name}.schema.json`), `${text}\n`);
}

/** Adds to each key the text of its row in docs/configuration.md, where `a.b` is the key `b` of `a`. */
function described(schema, page, path = '') {
  const properties = Object.entries(schema.properties).map(([key, one]) => {
    const name = path + key;
    const [row] = page.split('\n').filter((line) => line.startsWith(`| \`${name}\` |`));
    const text = row
      ?.split(/(?<!\\) \| /)[2]
      ?.replace(/ \|$/, '')
      .replaceAll('\\|', '|')
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const inner = one.properties ? described(one, page, `${name}.`) : one;
    return [key, text ? { description: text, ...inner } : inner];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}
