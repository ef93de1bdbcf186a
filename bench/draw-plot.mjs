/**
 * The plot of load times as SVG text: pure, so that the same numbers give the same picture. Both axes are logarithmic. A line is told
 * from others by its label, its marker and its dashes, too, not by its colour alone.
 */
const [WIDTH, HEIGHT] = [880, 520];
/** Of the part with the lines. */
const BOX = { left: 74, right: 590, top: 64, bottom: 452 };
/** Between the labels at the ends of lines, at least. */
const LABEL_HEIGHT = 17;

/** Line and text colours on white, and on a dark background. Those of lines have a contrast of 3:1 or more with the background. */
const COLORS = {
  paper: ['#ffffff', '#0d1117'],
  text: ['#1f2328', '#e6edf3'],
  grid: ['#d8dee4', '#30363d'],
  floor: ['#6e7781', '#9198a1'],
  ours: ['#0060a8', '#58b4f0'],
  pi: ['#c04400', '#ff8a4c'],
  gemini: ['#00795a', '#2fc79b'],
  mastra: ['#a03c86', '#e48fc9'],
  mcp: ['#7d5a00', '#e3b341'],
};
/** In the order in which they are drawn: ours last, on top of the others. */
const STYLES = {
  'reading every file': { color: 'floor', marker: 'none', dash: '2 4' },
  pi: { color: 'pi', marker: 'square' },
  'gemini-cli': { color: 'gemini', marker: 'triangle' },
  mastra: { color: 'mastra', marker: 'diamond' },
  'mastra + BM25': { color: 'mastra', marker: 'diamond', dash: '6 4' },
  'mcp ext/skills': { color: 'mcp', marker: 'cross' },
  'skill-registry': { color: 'ours', marker: 'circle', wide: true },
  'skill-registry, cached': { color: 'ours', marker: 'circle', dash: '6 4', wide: true },
};
/** Each is drawn around the point where the path has arrived. */
const MARKERS = {
  none: '',
  circle: 'm-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z',
  square: 'm-3.5-3.5h7v7h-7z',
  triangle: 'm0-4.5l4.5 8h-9z',
  diamond: 'm0-5l5 5l-5 5l-5-5z',
  cross: 'm-4-4l8 8m0-8l-8 8',
};

/**
 * @param {{ skills: readonly number[], milliseconds: Readonly<Record<string, readonly number[]>> }} numbers - For each name of
 * `STYLES` that was measured one value for each number of skills.
 */
export function drawPlot({ skills, milliseconds }) {
  const names = Object.keys(STYLES).filter((name) => milliseconds[name]);
  const all = names.flatMap((name) => milliseconds[name]);
  const x = logScale(skills[0], skills.at(-1), BOX.left, BOX.right);
  const [low, high] = [Math.min(...all) * 0.7, Math.max(...all) * 1.4];
  const y = logScale(low, high, BOX.bottom, BOX.top);
  const ends = names.map((name) => ({ name, ms: milliseconds[name].at(-1), y: y(milliseconds[name].at(-1)) }));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title desc" font-family="system-ui,sans-serif" font-size="13">`,
    '<title id="title">Load time against number of skills, of skill-registry and other programs</title>',
    `<desc id="desc">${describe(skills, ends)}</desc>`,
    `<style>${css()}</style>`,
    `<rect class="paper" fill="currentColor" width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text class="text" fill="currentColor" x="20" y="28" font-size="16" font-weight="600">What the first load of skills costs a process</text>`,
    ...axes(skills, powersOfTen(low, high), x, y),
    ...names.flatMap((name) => line(STYLES[name], skills.map(x), milliseconds[name].map(y))),
    ...spread(ends).flatMap(({ name, ms, y: from, at }) => label(STYLES[name], `${name} ${shown(ms)}`, from, at)),
    '</svg>\n',
  ].join('\n');
}

// --- internal ---

/** For those who hear the picture: what the ends of the lines say, quickest first. */
function describe(skills, ends) {
  const last = [...ends].sort((a, b) => a.ms - b.ms).map(({ name, ms }) => `${name} ${shown(ms)}`);
  return `Both axes are logarithmic. Processor time for ${count(skills.at(-1))} skills: ${last.join(', ')}.`;
}

function axes(skills, rows, x, y) {
  return [
    `<path class="grid" stroke="currentColor" d="${rows.map((ms) => `M${BOX.left} ${y(ms)}H${BOX.right}`).join('')}"/>`,
    `<path class="grid" stroke="currentColor" d="${skills.map((n) => `M${x(n)} ${BOX.top}V${BOX.bottom}`).join('')}"/>`,
    ...rows.map(
      (ms) =>
        `<text class="text" fill="currentColor" x="${BOX.left - 10}" y="${tenths(y(ms) + 4.5)}" text-anchor="end">${shown(ms)}</text>`,
    ),
    ...skills.map(
      (n) =>
        `<text class="text" fill="currentColor" x="${x(n)}" y="${BOX.bottom + 20}" text-anchor="middle" font-size="12">${count(n)}</text>`,
    ),
    `<text class="text" fill="currentColor" x="20" y="${BOX.top - 14}">processor time, logarithmic</text>`,
    `<text class="text" fill="currentColor" x="${(BOX.left + BOX.right) / 2}" y="${BOX.bottom + 48}" text-anchor="middle">number of skills, logarithmic</text>`,
  ];
}

/** @param only - The index of the one point with a marker. Default: all have one. */
function line({ color, marker, dash, wide }, xs, ys, only) {
  const path = xs.map((x, index) => `${index === 0 ? 'M' : 'L'}${x} ${ys[index]}`).join('');
  const dashes = dash ? ` stroke-dasharray="${dash}"` : '';
  const marks = xs
    .map((x, index) => ((only ?? index) === index ? `M${x} ${ys[index]}${MARKERS[marker]}` : ''))
    .join('');
  return [
    `<path class="${color}" fill="none" stroke="currentColor" stroke-linejoin="round" stroke-width="${wide ? 3 : 1.75}"${dashes} d="${path}"/>`,
    ...(MARKERS[marker]
      ? [`<path class="${color}" fill="currentColor" stroke="currentColor" stroke-width="1.5" d="${marks}"/>`]
      : []),
  ];
}

/** A thin line leads from the end of the line to its label, which may have had to move, and begins with a sample of the line. */
function label(style, text, from, at) {
  const [sample, weight] = [BOX.right + 26, style.wide ? ' font-weight="600"' : ''];
  return [
    `<path class="${style.color}" fill="none" stroke="currentColor" stroke-width="0.75" d="M${BOX.right + 8} ${from}L${sample} ${at}"/>`,
    ...line(style, [sample, sample + 14, sample + 28], [at, at, at], 1),
    `<text class="${style.color}" fill="currentColor" x="${sample + 34}" y="${tenths(at + 4.5)}"${weight}>${text}</text>`,
  ];
}

/** Moves labels apart, and keeps them beside the lines. */
function spread(ends) {
  const sorted = [...ends].sort((a, b) => a.y - b.y).map((end) => ({ ...end, at: end.y }));
  for (let index = 1; index < sorted.length; index++) {
    sorted[index].at = Math.max(sorted[index].at, sorted[index - 1].at + LABEL_HEIGHT);
  }
  let lowest = BOX.bottom;
  for (const end of sorted.toReversed()) {
    end.at = Math.min(end.at, lowest);
    lowest = end.at - LABEL_HEIGHT;
  }
  return sorted;
}

function css() {
  const [light, dark] = [0, 1].map((theme) =>
    Object.entries(COLORS)
      .map(([name, values]) => `.${name}{color:${values[theme]}}`)
      .join(''),
  );
  return `${light}@media(prefers-color-scheme:dark){${dark}}`;
}

function powersOfTen(low, high) {
  const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
}

function logScale(from, to, first, last) {
  const width = Math.log10(to / from);
  return (value) => tenths(first + (Math.log10(value / from) / width) * (last - first));
}

function tenths(value) {
  return Number(value.toFixed(1));
}

/** `0.3 ms`, `42 ms`, `1.8 s`. */
function shown(ms) {
  const [value, unit] = ms < 1000 ? [ms, 'ms'] : [ms / 1000, 's'];
  return `${value < 9.95 ? Number(value.toPrecision(2)) : Math.round(value)} ${unit}`;
}

function count(number) {
  return number.toLocaleString('en');
}
