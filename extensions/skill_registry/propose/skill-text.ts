import { yamlPackage } from '../../../kernel/host.ts';
import { invalidArgument } from '../skill/errors.ts';
import { splitFrontmatter } from '../skill/frontmatter.ts';

/** The text of a new SKILL.md. */
export function skillText(name: string, description: string, body: string): string {
  const head = yamlPackage().stringify({ name, description }, { lineWidth: 0 });
  return `---\n${head}---\n\n${body.trim()}\n`;
}

/**
 * SKILL.md with fields of its frontmatter set or, by null, removed; all else, comments included, stays as it is written.
 *
 * @throws INVALID_ARGUMENT when its frontmatter cannot be read as a mapping.
 */
export function patchFrontmatter(text: string, fields: Readonly<Record<string, unknown>>): string {
  const { yaml, bodyOffset } = splitFrontmatter(text);
  const { isMap, parseDocument } = yamlPackage();
  const document = parseDocument(yaml ?? '', { keepSourceTokens: true });
  if (document.errors.length > 0 || (document.contents !== null && !isMap(document.contents))) {
    throw invalidArgument('The frontmatter of this skill is no mapping that could be patched; edit the whole file.');
  }
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) document.delete(name);
    else document.set(name, value);
  }
  const start = text.startsWith('\ufeff') ? '\ufeff' : '';
  return `${start}---\n${document.toString({ lineWidth: 0 }).replace(/\n?$/, '\n')}---\n${text.slice(bodyOffset)}`;
}
