import { matchesOf } from '../../../../../../lib/text/index.ts';
import { createLineCount } from '../lines.ts';
import type { ClassifiedFile, Match, Rule } from '../rule.ts';
import { encodedCommands } from './decoded-texts.ts';
import { AS_ROOT, END, each, INTERPRETER, near, PIPE, re } from './words.ts';

const DECODE = String.raw`(?:base(?:64|32)\s(?:-{1,2}d(?:i|ecode)?\b|-di\b|--d\b)|openssl\s(?:base64|enc)\s[^\n|]{0,60}-d\b|xxd\s-r|uudecode|b64decode|frombase64string|\brev\b|\btr\s["']?a-z[^\n|]{0,12}["']?n-z|printf\s["'](?:\\x[0-9a-f]{2}|\\[0-7]{3}){4}[^\n|]{0,2000}|echo\s-n?e\s["']?(?:\\x[0-9a-f]{2}){4}[^\n|]{0,2000})`;
const DECODES_IN_CODE = String.raw`(?:b64decode|b32decode|a85decode|b85decode|frombase64string|\batob|base64_decode|decode_base64|base64\.(?:strict_)?decode64|buffer\.from\([^\n)]{0,4000}["'](?:base64|hex)["']|bytes\.fromhex|unhexlify|zlib\.decompress|marshal\.loads|codecs\.decode\([^\n)]{0,2000}rot)`;

export const HIDDEN_COMMANDS: readonly Rule[] = [
  {
    id: 'decode-and-run',
    level: 'block',
    family: 'hidden commands',
    message: 'Decodes a text and runs it',
    why: 'A command is encoded so that nobody reads it.',
    mend: 'Write the command as it is.',
    patterns: [
      ...each(
        {},
        re`(?<![\w-])${DECODE}[^\n]{0,80}?${PIPE}(?:[^\n|]{0,60}${PIPE}){0,2}?${AS_ROOT}${INTERPRETER}${END}`,
        /(?:\b(?:ba|z|da|k|fi|c|tc)?sh\s(?:-\w{1,5}\s)?["']?(?:<\(|\$\(|`|<<<)|\b(?:eval|source)\s["']?(?:\$\(|<\(|`))[^\n]{0,400}?\b(?:base(?:64|32)\s(?:-{1,2}d|-di)|openssl\s(?:base64|enc)\s[^\n|]{0,60}-d\b|xxd\s-r)/,
        /\b(?:powershell|pwsh)(?:\.exe)?\s[^\n]{0,120}?-e(?:nc|ncodedcommand|c)?\s["']?[a-z0-9+/=]{16}|\bcertutil(?:\.exe)?\s[^\n]{0,40}?-(?:decode|urlcache)\b[\s\S]{0,120}?\b(?:start|call|rundll32|regsvr32|cmd|\w{1,30}\.exe)\b/,
      ),
      ...each(
        { needs: re`${DECODES_IN_CODE}` },
        re`(?<![.\w])(?:exec|eval|compile|os\.system|os\.popen|subprocess\.\w{2,12}|system|(?:\w{1,20}\.)?execsync|new function|function|(?:\w{1,20}\.)?spawn)\s?\(\s?(?:[\w.'"()]{0,40}\(\s?){0,3}[\w.'"()]{0,30}?${DECODES_IN_CODE}(?!\s?\(\s?(?:\.\.\.|…|\)))`,
        re`\b([a-z_]\w{0,30})\s?=\s?[^\n]{0,80}?${DECODES_IN_CODE}[\s\S]{0,600}?(?<![.\w])(?:exec|eval|os\.system|os\.popen|\w{1,12}\.exec(?:sync)?|execsync|iex|invoke-expression)\s?\(?\s?(?:\$|str\(|compile\()?\1\b`,
      ),
      near(
        { where: 'code', ordered: false, within: 300 },
        /(?:zlib\.decompress|marshal\.loads|b64decode|b32decode|a85decode|b85decode|unhexlify)\s?\(/,
        /(?<![.\w])exec\s?\(\s?(?:\(\s?_{1,6}\s?\)|_{1,6}\s?\(|lambda\b)/,
      ),
      near(
        { where: 'code', ordered: false, within: 600 },
        re`${DECODES_IN_CODE}`,
        /(?<![.\w])(?:eval|exec|new function)\s?\(\s?(?:await\s)?\(?\s?(?:await\s)?(?:fetch|urlopen|requests\.get|urllib\.request\.urlopen|axios\.get|httpx\.get)\b/,
      ),
    ],
  },
  {
    id: 'text-decodes-to-command',
    level: 'block',
    family: 'hidden commands',
    message: 'A text that decodes to a command',
    why: 'A command is encoded so that nobody reads it.',
    mend: 'Write the command as it is.',
    find: encodedCommands,
  },
  {
    id: 'assembled-text',
    level: 'warn',
    family: 'hidden commands',
    message: 'A name, path or address that is put together so that a search does not find it',
    why: 'Nobody has to take apart the name of a function, of a store of secrets or of a host.',
    mend: 'Write it as it is.',
    patterns: each(
      { where: 'code' },
      // Letters that are counted down, and functions that are made through another one.
      /fromc(?:harcode|odepoint)\([^)\n]{0,40}\w\)?\s?[-^]\s?\w|\bchr\([^)\n]{0,30}\)?\s?[-^]\s?\w|\bgetprototypeof\(\s?async\b|\.constructor\.constructor\(|(?:\[\]byte\s?\{|\b(?:bytes|bytearray|uint8array)\(\[)\s?(?:0x[0-9a-f]{2},\s?){8}[\s\S]{0,2000}?\^=?\s?0x[0-9a-f]{2}\b/,
      /\brot[-_]?13\b|\buggcf?:\/\/|["']a-za-z["']\s["']n-za-mn-za-m["']|\/\/:s?ptth\b/,
    ),
    find: assembledIn,
  },
];

// --- internal ---

/** A word that is written in two parts, or backwards. */
const SPLIT =
  /(["'])[\w./-]{0,30}\w\1\s?\+\s?(["'])\w[\w./-]{0,30}\2|(["'])[\w./:-]{4,80}\3(?:\[::-1\]|\.split\(["']{2}\)\.reverse\(\))/g;

function* assembledIn({ text, script, folded }: ClassifiedFile): Generator<Match> {
  yield* folded?.assembled ?? [];
  if (!script || !/["'](?:\s?\+|\[::-|\.split)/.test(text)) return;
  const lineAt = createLineCount(text);
  for (const { 0: words, index } of matchesOf(text, SPLIT))
    if (words.replace(/\W/g, '').length > 3) yield { line: lineAt(index), words };
}
