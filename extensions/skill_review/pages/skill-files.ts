import { orRefusal, type Page, pageNotFound } from '../../../lib/forms/index.ts';
import { address, formatNumber, type Html, html, plural } from '../../../lib/html/index.ts';
import { showHidden } from '../../../lib/text/index.ts';
import { levelTag, note } from '../../../lib/widgets/index.ts';
import type { Finding } from '../../skill_registry/api.ts';
import type { CorePages, CoreRequest } from '../review.ts';
import { heldMark, readMarked } from './skill-parts.ts';

export const skillFilesPages: CorePages = {
  get: {
    '/skills/:id/files': files,
    async '/skills/:id/text'(request) {
      const { text, heldBecause } = await readMarked(request, request.query('path'));
      const mark = heldBecause === undefined ? '' : `[Held, no agent is given this text: ${heldBecause}]\n\n`;
      return { text: showHidden(`${mark}${text.toString('utf8')}`) };
    },
  },
};

// --- internal ---

async function files(request: CoreRequest): Promise<Page> {
  const { id, registry, skill } = request;
  const { admin } = registry;
  if (!skill) throw pageNotFound();
  const found = (await Promise.all(request.features.map((one) => one.fileRemarks?.(request) ?? []))).flat();
  const path = request.query('path');
  const all = [{ path: 'SKILL.md', size: skill.bytes }, ...admin.resources(id)];
  const leftOut = admin.leftOutCount(id);
  const rows = all.map(({ path: one, size }) => {
    const [found1] = found.filter(({ file }) => file === one);
    return html`<tr><th scope="row"><a href="${fileAddress(id, one)}"${one === path ? html` aria-current="page"` : ''}>${one}</a> ${found1 ? levelTag(found1.level) : ''}</th><td class="number">${formatNumber(size)}</td></tr>`;
  });
  const main = html`${request.skillHead('/files')}
<table><thead><tr><th scope="col">File</th><th scope="col" class="number">Bytes</th></tr></thead><tbody>${rows}</tbody></table>
${leftOut > 0 ? html`<p class="quiet">${plural(leftOut, 'file')} beside these are never read or handed out: secrets, by their names.</p>` : ''}
${path === undefined ? '' : await oneFile(request, path, found)}`;
  return { title: `Files of ${skill.id}`, at: '/catalog', main };
}

const MAX_LINES = 5_000;
const MAX_CHARACTERS = 512 * 1024;

function fileAddress(id: string, path: string): string {
  return `${address('skills', id)}/files?path=${encodeURIComponent(path)}#file`;
}

async function oneFile(request: CoreRequest, path: string, found: readonly Finding[]): Promise<Html> {
  const { refused, value } = await orRefusal(readMarked(request, path === 'SKILL.md' ? undefined : path));
  const head = html`<h2 id="file" tabindex="-1">${path}</h2>`;
  if (refused) return html`${head}${note(html`<p>${refused.message}</p>`, 'warn')}`;
  const { text: bytes, heldBecause } = value;
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
  const whole = `${address('skills', request.id, 'text')}${path === 'SKILL.md' ? '' : `?path=${encodeURIComponent(path)}`}`;
  return html`${head}
${heldMark(heldBecause)}
${isCut ? note(html`<p>Only the beginning of it is shown.</p>`, 'warn') : ''}
<div class="diff-frame"><table class="diff"><caption class="unseen">${path}</caption><colgroup><col class="at"><col></colgroup><thead class="unseen"><tr><th scope="col">Line</th><th scope="col">Text</th></tr></thead><tbody>
${rows}</tbody></table></div>
<p class="quiet"><a href="${whole}">All of it as text</a></p>`;
}
