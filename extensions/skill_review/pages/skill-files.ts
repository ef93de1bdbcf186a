import { showHidden } from '../../../lib/text/index.ts';
import type { Finding } from '../../skill_registry/api.ts';
import { pageNotFound } from '../errors.ts';
import { isRefused, orRefusal } from '../forms.ts';
import { type Html, html } from '../html/html.ts';
import { page } from '../html/layout.ts';
import { formatNumber, levelTag, note, plural, skillAddress } from '../html/parts.ts';
import type { Review, ReviewApp } from '../review.ts';
import { heldMark, readMarked, skillHead, skillOf } from './skill-parts.ts';

export function addSkillFiles(app: ReviewApp, review: Review): void {
  const { registry } = review;
  const { admin } = registry;
  const foundIn = async (id: string): Promise<readonly Finding[]> => {
    const trust = await orRefusal(admin.trustOf(id));
    return isRefused(trust) ? [] : trust.findings;
  };

  app.get('/skills/:id/files', async (context) => {
    const id = context.req.param('id');
    const skill = skillOf(registry.snapshot(), id);
    if (!skill) throw pageNotFound();
    const found = await foundIn(id);
    const path = context.req.query('path');
    const files = [{ path: 'SKILL.md', size: skill.bytes }, ...admin.resources(id)];
    const leftOut = admin.leftOutCount(id);
    const rows = files.map(({ path: one, size }) => {
      const [found1] = found.filter(({ file }) => file === one);
      return html`<tr><th scope="row"><a href="${fileAddress(id, one)}"${one === path ? html` aria-current="page"` : ''}>${one}</a> ${found1 ? levelTag(found1.level) : ''}</th><td class="number">${formatNumber(size)}</td></tr>`;
    });
    const main = html`${skillHead(id, skill, 'files')}
<table><thead><tr><th scope="col">File</th><th scope="col" class="number">Bytes</th></tr></thead><tbody>${rows}</tbody></table>
${leftOut > 0 ? html`<p class="quiet">${plural(leftOut, 'file')} beside these are never read or handed out: secrets, by their names.</p>` : ''}
${path === undefined ? '' : await oneFile(review, id, path, found)}`;
    return context.html(page(context, review, { title: `Files of ${skill.id}`, at: 'catalog', main }));
  });

  app.get('/skills/:id/text', async (context) => {
    const path = context.req.query('path');
    const { text, heldBecause } = await readMarked(registry, context.req.param('id'), path);
    const mark = heldBecause === undefined ? '' : `[Held, no agent is given this text: ${heldBecause}]\n\n`;
    return context.text(showHidden(`${mark}${text.toString('utf8')}`));
  });
}

// --- internal ---

const MAX_LINES = 5_000;
const MAX_CHARACTERS = 512 * 1024;

function fileAddress(id: string, path: string): string {
  return `${skillAddress(id)}/files?path=${encodeURIComponent(path)}#file`;
}

async function oneFile({ registry }: Review, id: string, path: string, found: readonly Finding[]): Promise<Html> {
  const read = await orRefusal(readMarked(registry, id, path === 'SKILL.md' ? undefined : path));
  const head = html`<h2 id="file" tabindex="-1">${path}</h2>`;
  if (isRefused(read)) return html`${head}${note(html`<p>${read.refused.message}</p>`, 'warn')}`;
  const { text: bytes, heldBecause } = read;
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes) || text.includes('\0'))
    return html`${head}<p>${plural(bytes.length, 'byte')} that are no text, not shown.</p>`;
  const lines = text.slice(0, MAX_CHARACTERS).split(/\r\n|\n|\r/);
  const here = found.filter(({ file }) => file === path);
  const isCut = text.length > MAX_CHARACTERS || lines.length > MAX_LINES;
  const rows = lines.slice(0, MAX_LINES).map((line, at) => {
    const onLine = here.filter((one) => one.line === at + 1);
    const remarks = onLine.map(
      ({ level: how, message, rule }) =>
        html`<div>${levelTag(how)} ${message} <span class="quiet">${rule}</span></div>`,
    );
    return html`<tr id="line-${at + 1}"><td class="at">${at + 1}</td><td class="text">${line}</td></tr>
${onLine.length === 0 ? '' : html`<tr class="remark"><td colspan="2">${remarks}</td></tr>`}`;
  });
  const whole = `${skillAddress(id)}/text${path === 'SKILL.md' ? '' : `?path=${encodeURIComponent(path)}`}`;
  return html`${head}
${heldMark(heldBecause)}
${isCut ? note(html`<p>Only the beginning of it is shown.</p>`, 'warn') : ''}
<div class="diff-frame"><table class="diff"><caption class="unseen">${path}</caption><colgroup><col class="at"><col></colgroup><thead class="unseen"><tr><th scope="col">Line</th><th scope="col">Text</th></tr></thead><tbody>
${rows}</tbody></table></div>
<p class="quiet"><a href="${whole}">All of it as text</a></p>`;
}
