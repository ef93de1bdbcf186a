import { isLoopback } from '../../../lib/loopback/index.ts';

export const PAGE_EXPECTED =
  'expected an https: address (http: only on this machine) without user name, query and fragment';

/**
 * The page that an address names, below which `.well-known/agent-skills/index.json` is; the address of that index names it, too. No
 * slash is at its end. Undefined for any other text.
 */
export function pageAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) return undefined;
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') return undefined;
  return url.origin + url.pathname.replace(/\/\.well-known\/.*$/, '').replace(/\/+$/, '');
}
