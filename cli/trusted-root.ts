import { isOwnCheckout } from 'skill-registry/kernel';
import { printable } from '../lib/text/index.ts';
import { openTrust } from '../lib/trust/index.ts';
import type { GlobalOptions, Terminal } from './terminal.ts';

/** Whether a root may act: it is the package's own checkout, somebody has approved it, or `--trust` says so for once. */
export function isTrusted(root: string, { trust }: GlobalOptions, terminal: Terminal): boolean {
  if (trust || isOwnCheckout(root)) return true;
  const decisions = openTrust();
  const trouble = decisions.trouble();
  if (trouble) terminal.err(`warning: ${printable(decisions.file)} approves nothing: ${trouble}\n`);
  return decisions.allows('root', root);
}
