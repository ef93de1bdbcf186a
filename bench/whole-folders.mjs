/**
 * What the inspection of the build finds in whole folders of real skills, and what it costs:
 * `SKILL_PACKAGES=<folder> node bench/whole-folders.mjs [file for all findings]`. Packages that are not in the folder are
 * fetched with `npm pack`; nothing of them is run. `SKILL_CORPUS=<folder>` adds the real SKILL.md files.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { inspectFolder } from '../dist/extensions/skill_registry/index.js';
import { median, percentile } from './statistics.mjs';

const { SKILL_PACKAGES: packages, SKILL_CORPUS: corpus } = process.env;
const LEVELS = ['block', 'warn', 'info'];
/** Of one skill, in bytes; a package with its root as a skill may carry anything. */
const MOST = 64 * 1024 * 1024;

const sets = [];
if (packages) {
  const list = JSON.parse(readFileSync(new URL('skill-packages.json', import.meta.url), 'utf8'));
  for (const [spec, integrity] of Object.entries(list)) fetchPackage(packages, spec, integrity);
  sets.push(['whole folders', packages, oneOfEach(skillsBelow(packages, Object.keys(list).map(folderName)))]);
}
if (corpus) {
  const base = mkdtempSync(join(tmpdir(), 'wild-'));
  process.on('exit', () => rmSync(base, { recursive: true }));
  execFileSync('tar', ['xzf', join(corpus, 'wild-skills.tar.gz'), '-C', base]);
  sets.push(['SKILL.md files', base, skillsBelow(base, ['wild-skills'])]);
}

const results = [];
for (const [title, base, folders] of sets) {
  const found = [];
  for (const folder of folders) {
    const start = process.cpuUsage();
    const { verdict, findings } = await inspectFolder(folder);
    const { user, system } = process.cpuUsage(start);
    found.push({ skill: relative(base, folder), verdict, ms: (user + system) / 1000, findings });
  }
  results.push(...found.map((one) => ({ set: title, ...one })));
  print(title, found);
}
if (process.argv[2]) writeFileSync(process.argv[2], JSON.stringify(results, null, 1));

function print(title, found) {
  const times = found.map(({ ms }) => ms);
  const sum = times.reduce((all, one) => all + one, 0);
  const share = (level) => {
    const count = found.filter(({ verdict }) => verdict === level).length;
    return `${level} ${count} (${((100 * count) / found.length).toFixed(1)} %)`;
  };
  const ms = (value) => `${value.toFixed(1)} ms`;
  console.log(`${title}: ${found.length} skills, ${LEVELS.map(share).join(', ')}`);
  console.log(`  processor time: median ${ms(median(times))}, p95 ${ms(percentile(times, 0.95))}, sum ${ms(sum)}`);
  const rules = new Map();
  for (const { findings } of found) {
    for (const key of new Set(findings.map(({ level, rule }) => `${level} ${rule}`))) {
      rules.set(key, (rules.get(key) ?? 0) + 1);
    }
  }
  for (const [rule, count] of [...rules].sort(([, a], [, b]) => b - a)) console.log(`  ${count} with ${rule}`);
}

function folderName(spec) {
  return spec.replace(/^@/, '').replace(/[/@]/g, '-');
}

/** An archive with other bytes than when the list was made is an error. */
function fetchPackage(base, spec, integrity) {
  const target = join(base, folderName(spec));
  if (existsSync(target)) return;
  const fresh = `${target}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  execFileSync('npm', ['pack', spec, '--silent', '--ignore-scripts'], { cwd: fresh });
  const archive = join(fresh, readdirSync(fresh)[0]);
  const digest = createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (`sha512-${digest}` !== integrity) throw new Error(`${spec} is not the archive of the list.`);
  execFileSync('tar', ['xzf', archive, '--no-same-owner', '-C', fresh]);
  rmSync(archive);
  renameSync(fresh, target);
}

function skillsBelow(base, names) {
  return names.flatMap((name) =>
    filesBelow(join(base, name))
      .filter((path) => basename(path) === 'SKILL.md' && !path.includes('node_modules/'))
      .map((path) => join(base, name, dirname(path))),
  );
}

/** One folder of those with the same files: packages carry copies of each other's skills, and of their own. */
function oneOfEach(folders) {
  const byContent = new Map();
  for (const folder of folders) {
    const content = contentOf(folder);
    if (content && !byContent.has(content)) byContent.set(content, folder);
  }
  return [...byContent.values()];
}

function contentOf(folder) {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const path of filesBelow(folder)) {
    bytes += statSync(join(folder, path)).size;
    if (bytes > MOST) return undefined;
    hash
      .update(`${path}\n`)
      .update(readFileSync(join(folder, path)))
      .update('\n');
  }
  return hash.digest('hex');
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}
