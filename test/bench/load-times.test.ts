import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const BENCH = join(import.meta.dirname, '../../bench');
const read = (name: string): string => readFileSync(join(BENCH, name), 'utf8');

interface Numbers {
  readonly skills: readonly number[];
  readonly milliseconds: Readonly<Record<string, readonly number[]>>;
}

const DRAW_PLOT = new URL('../../bench/draw-plot.mjs', import.meta.url).href;
const { drawPlot } = (await import(DRAW_PLOT)) as { readonly drawPlot: (numbers: Numbers) => string };
const measured = JSON.parse(read('load-times.json')) as Numbers;

it('keeps the picture of load times that the numbers beside it give', () => {
  expect(read('load-times.svg')).toBe(drawPlot(measured));
  expect(read('load-times.svg').length).toBeLessThan(20_000);
});

it('says in words what the picture shows', () => {
  const svg = drawPlot(measured);
  const [, described = ''] = /<desc[^>]*>([^<]+)</.exec(svg) ?? [];
  for (const name of Object.keys(measured.milliseconds)) expect(described).toContain(`${name} `);
  expect(svg).toMatch(/<title id="title">[^<]+</);
});

it('draws no label over another one, even when every line ends in one point', () => {
  const names = Object.keys(measured.milliseconds);
  for (const last of [[0.2], [3_000], [0.2, 3_000], [0.5, 0.6, 3_000]]) {
    const milliseconds = names.map((name, index) => [name, [0.2, last[index % last.length] ?? 0]]);
    const svg = drawPlot({ skills: [4, 10_000], milliseconds: Object.fromEntries(milliseconds) });
    const heights = [...svg.matchAll(/<text class="(?!text)[^"]*" fill="currentColor" x="[\d.]+" y="([\d.]+)"/g)].map(
      ([, y]) => Number(y),
    );
    expect(heights).toHaveLength(names.length);
    const sorted = heights.toSorted((a, b) => a - b);
    for (const [index, y] of sorted.entries()) {
      expect(y - (sorted[index - 1] ?? 0)).toBeGreaterThanOrEqual(16);
      expect(y).toBeLessThan(460);
    }
  }
});
