/** @param {readonly { what: string, on: string, skills?: number, ms?: number, ratio?: string, budget?: string }[]} rows */
export function printTable(rows) {
  const cells = rows.map(({ what, on, skills, ms, ratio = '', budget = '' }) => [
    what,
    on,
    skills === undefined ? '' : String(skills),
    ms === undefined ? '' : ms.toFixed(ms < 10 ? 1 : 0),
    ratio,
    budget,
  ]);
  const all = [['WHAT', 'ON', 'SKILLS', 'MS', 'RATIO OR FIGURE', 'BUDGET'], ...cells];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  const numeric = new Set([2, 3]);
  for (const row of all) {
    const line = row.map((cell, column) =>
      numeric.has(column) ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
    );
    console.log(line.join('  ').trimEnd());
  }
}
