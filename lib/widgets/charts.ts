import { type Html, html } from '../html/index.ts';

export interface DayBar {
  readonly day: string;
  readonly value: number;
}

/**
 * Numbers and days are text outside the drawing, which is stretched to the width of the page.
 * @param id - Unique on the page. @param what - Title, such as `Loads a day`.
 */
export function dayChart(id: string, what: string, bars: readonly DayBar[]): Html {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const top = roundedUp(most);
  const best = bars.reduce((one, other) => (other.value > one.value ? other : one), bars[0] ?? { day: '', value: 0 });
  const sum = bars.reduce((total, { value }) => total + value, 0);
  const rects = bars.map(({ value }, index) => {
    const height = (value / top) * 100;
    return value === 0
      ? ''
      : html`<rect x="${index * 10 + 1.5}" y="${(100 - height).toFixed(2)}" width="7" height="${height.toFixed(2)}"></rect>`;
  });
  return html`<figure class="chart">
<div class="scale" aria-hidden="true"><span>${top}</span><span>${top / 2}</span><span>0</span></div>
<svg viewBox="0 0 ${bars.length * 10} 100" preserveAspectRatio="none" role="img" aria-labelledby="${id}-title ${id}-desc">
<title id="${id}-title">${what}</title>
<desc id="${id}-desc">${sum} from ${bars[0]?.day} to ${bars.at(-1)?.day}, most on ${best.day}: ${best.value}.</desc>
<path class="grid" d="M0 0H${bars.length * 10}M0 50H${bars.length * 10}M0 100H${bars.length * 10}"></path>
${rects}
</svg>
<div class="days" aria-hidden="true"><span>${bars[0]?.day}</span><span>${bars[Math.floor(bars.length / 2)]?.day}</span><span>${bars.at(-1)?.day}</span></div>
</figure>`;
}

/** @param most - Value at full width. @param parts - Value and class, from left to right. */
export function rowBar(most: number, ...parts: readonly (readonly [number, string])[]): Html {
  let from = 0;
  const rects = parts.map(([value, kind]) => {
    const width = (value / Math.max(1, most)) * 100;
    from += width;
    return html`<rect class="${kind}" x="${(from - width).toFixed(2)}" y="0" width="${width.toFixed(2)}" height="10"></rect>`;
  });
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">${rects}</svg>`;
}

// --- internal ---

/** The next of 2, 4, 10, 20, 40, 100 ...: half of it is a whole number. */
function roundedUp(value: number): number {
  for (let unit = 1; ; unit *= 10) {
    const found = [2, 4, 10].map((factor) => factor * unit).find((one) => one >= value);
    if (found !== undefined) return found;
  }
}
