import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { SkillRegistry } from 'skill-registry';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { openRoot } from '../helpers/open-registry.ts';
import { type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { findChromium, NO_CHROMIUM } from './find-chromium.ts';
import { type ReviewProcess, startReview } from './review-process.ts';
import { type Seeded, seed } from './seed.ts';

export interface OpenReview extends Seeded {
  readonly root: string;
  /** Of another process on the same root. */
  readonly registry: SkillRegistry;
  readonly process: ReviewProcess;
  readonly context: BrowserContext;
  /** On the inbox, by the printed address. */
  readonly page: Page;
  /** The address of a path. */
  at(path: string): string;
}

let browser: Browser;

/** One browser for all tests of a file. Without one they are skipped, where SKILL_BROWSER is not `required`. */
export function useBrowser(): void {
  const executablePath = findChromium();
  const isMissing = executablePath === undefined;
  beforeAll(async () => {
    if (executablePath === undefined) {
      if (process.env.SKILL_BROWSER === 'required') throw new Error(NO_CHROMIUM);
      return;
    }
    browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  });
  beforeEach(({ skip }) => skip(isMissing, NO_CHROMIUM));
  afterAll(() => browser?.close());
}

/**
 * The real command on a root with skills and proposals, and a browser that was let in. When the test has finished, nothing may have
 * opened a dialog, failed in a page, been refused by the content security policy, or asked another server.
 */
export async function openReview(tree: Tree = {}, options: BrowserContextOptions = {}): Promise<OpenReview> {
  const root = tempFolder();
  const seeded = await seed(root);
  writeTree(root, tree);
  const registry = await openRoot(root);
  const process = await startReview(root);
  onTestFinished(() => process.stop());
  const context = await browser.newContext(options);
  const at = (path: string): string => new URL(path, process.url).href;
  const harm = watchHarm(context, new URL(process.url).origin);
  onTestFinished(async () => {
    await context.close();
    expect(harm).toEqual([]);
  });
  const page = await context.newPage();
  await page.goto(process.url);
  return { root, ...seeded, registry, process, context, page, at };
}

/** What pages of a context have done that no page of ours does. Names of hosts are not resolved in this browser. */
export function watchHarm(context: BrowserContext, own: string): readonly string[] {
  const harm: string[] = [];
  context.on('request', (request) => {
    const address = request.url();
    if (!address.startsWith(`${own}/`) && !address.startsWith('data:')) harm.push(`asked ${address}`);
  });
  context.on('dialog', async (dialog) => {
    harm.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  context.on('weberror', (error) => harm.push(`error: ${error.error().message}`));
  context.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) harm.push(`console: ${message.text()}`);
  });
  return harm;
}

/** A context of the browser of this file. */
export function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  return browser.newContext(options);
}

// --- internal ---

const ARGUMENTS = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];
