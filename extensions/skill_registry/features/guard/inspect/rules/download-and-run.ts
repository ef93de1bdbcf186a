import type { Rule } from '../rule.ts';
import { stepsOf } from '../steps.ts';
import { OFFICIAL } from './official-installers.ts';
import { AS_ROOT, BARE_ADDRESS, END, each, FETCH, INTERPRETER, near, PIPE, re, SHELL } from './words.ts';

const PIPED = String.raw`${PIPE}(?:[^\n|]{0,80}${PIPE}){0,2}?${AS_ROOT}${INTERPRETER}${END}`;
const RUNS = String.raw`(?:\b(?:ba|z|da|k|fi|c|tc)?sh\s(?:-\w{1,5}\s)?["']?(?:<\(|\$\(|\`)|\b(?:eval|iex|invoke-expression)\s?\(?["']?(?:\$\(|<\(|\`|\()?|\bsource\s["']?(?:\$\(|<\(|\`))`;

/** A line that names only places which everybody fills in: `10.0.0.1`, `ATTACKER_IP`, `$HOST`. */
const NO_ADDRESS =
  /^(?![^\n]*(?:(?<![\w.])(?!10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.)(?:\d{1,3}\.){3}\d|(?<![\w.@/-])(?!example\.|(?:attacker|target|victim|your)[\w-]{0,20}\.)[a-z][\w-]{0,40}\.[a-z]{2,12}\b))/;

/** A connection to a named place, and a command that is in no text. */
const SOCKET = String.raw`(?:\.connect\(\s?\(?|\b(?:tcpsocket|tcpclient|udpsocket)\.?(?:new|open)?\(|\bsocket\.(?:tcp|create_connection|connect)\(|\bnet\.(?:dial\w*|connect|createconnection)\(|\b(?:fsockopen|stream_socket_client|open_connection|connect_tcp)\(|\bnew (?:net\.)?(?:socket|tcpclient|sockets\.tcpclient)\(|\bio::socket::\w{2,8}->new\(|\btcpstream::connect\(|:gen_tcp\.connect\(|\bsocket\s(?=["'\d]))[^\n]{0,60}?["'](?!localhost|127\.|0\.0\.0\.0|::1|10\.|192\.168|8\.8\.|1\.1\.1\.|https?:)(?:tcp:/{0,2})?[\w-]{1,40}\.[\w.-]{2,60}(?::\d{2,5}|["'][^\n]{0,30}?\b\d{2,5}\b)`;
const RUNS_WHAT_COMES = String.raw`(?:\b(?:popen\d?|system|exec\w{0,8}|spawn\w{0,6}|shell_exec|proc_open|passthru|eval\w{0,6}|getoutput|invoke-expression|iex|open3\.\w{2,10}|subprocess\.\w{2,12}|os\.execute|load(?:string)?|instance_eval)[\s(]\s?[($@&[]{0,2}(?!["'\`\s])[\w$@&]|\b(?:exec\.command|command::new|new processbuilder|asyncio\.create_subprocess_shell|system\.cmd|port\.open)\(\s?(?:["'](?:/bin/)?(?:ba|z)?sh|["']cmd|["']powershell|\w))`;

/** Starts a file as a command on Windows. */
const STARTS_FILE = String.raw`(?:(?:&&?|;|\n)\s{0,3}|\b(?=(?:start|call|cmd(?:\.exe)? /c)\s))(?:(?:start|call|cmd(?:\.exe)? /c)\s(?:""\s|/\w\s){0,2})?["']?(?:%\w{1,20}%|\$env:\w{1,20}|[a-z]:)\\[^\s"']{1,100}\.(?:exe|bat|cmd|ps1|scr|vbs|hta|msi)\b`;

export const DOWNLOAD_AND_RUN: readonly Rule[] = [
  {
    id: 'fetch-from-address-and-run',
    level: 'block',
    family: 'download and run',
    message: 'Fetches from a bare address and runs what comes',
    why: 'An address without a name belongs to nobody that can be asked, and what it sends today is not what it sends tomorrow.',
    mend: 'Ship the script with the skill, or install a package with a name and a version.',
    patterns: [
      near(
        { within: 250 },
        re`\b${FETCH}\b[^\n|]{0,200}?${BARE_ADDRESS}`,
        re`\bchmod\s(?:[augo]{0,3}\+x|[0-7]{3,4})|(?:\b${SHELL}|[;&|]\s{0,20}\.)\s["']?(?:\./|/tmp/|~/|\$)|\bstart-process\b|\b(?:exec|eval)\(|\bos\.(?:system|popen|startfile)\(|\bsubprocess\.|${STARTS_FILE}`,
      ),
      ...each(
        {},
        re`\b${FETCH}\b[^\n|]{0,200}?(?:${BARE_ADDRESS}|\s(?!127\.|10\.|192\.168\.)(?:\d{1,3}\.){3}\d{1,3}(?=[:/\s]))[^\n|]{0,200}?${PIPED}`,
        re`${RUNS}[^\n]{0,60}?${FETCH}\b[^\n]{0,200}?${BARE_ADDRESS}|\b(?:pip3?|npm|npx|uv pip|gem)\s(?:install|i|exec)?[^\n|;&]{0,80}?(?:git\+)?${BARE_ADDRESS}`,
        re`\b(?:exec|eval|system|popen|run|call|execsync|spawn)\s?\(\s?[^\n]{0,120}?${FETCH}[^\n]{0,80}?${BARE_ADDRESS}`,
      ),
    ],
  },
  {
    id: 'shell-calls-home',
    level: 'block',
    family: 'download and run',
    message: 'Opens a shell of this machine to an address of the internet',
    why: 'Whoever listens there can do what the user can.',
    mend: 'Remove it. Where a skill teaches about it, use a placeholder for the address.',
    patterns: [
      ...each(
        { unless: NO_ADDRESS },
        /(?:\b(?:ba|z)?sh\s-\w{0,3}i?|\bexec\s\d?)[^\n]{0,80}?\/dev\/(?:tcp|udp)\/(?!localhost|127\.|10\.0\.0\.1\/|\$|\w{0,20}(?:ip|host|attacker|target)\b)(?:\d{1,3}\.){3}\d{1,3}\/\d/,
        /\b(?:nc|ncat|netcat)\s(?:[^\n|;&]{0,60}\s)?(?:-\w{0,4}[ec]|--exec|--sh-exec)\s{0,2}["']?(?:\/bin\/)?(?:ba|z)?sh\b|\bmkfifo\b[^\n]{0,120}?\bsh\s-i[^\n]{0,40}?\|\s?(?:nc|ncat|netcat|openssl)\b|\bsocat\b[^\n]{0,80}?exec:/,
      ),
      near(
        { where: 'code', within: 600 },
        /\.connect\(\s?\(|\bnet\.(?:connect|socket|createconnection)\b|\bsocket\.socket\(|\bio::socket::\w{2,8}->new\(|\btcpsocket\.(?:new|open)\(/,
        /\bdup2\(|\bspawn\(\s?["'](?:\/bin\/(?:ba|z)?sh|cmd(?:\.exe)?|powershell)|\bpty\.spawn\(|\bstd(?:in|out)->fdopen\(|\$std(?:in|out)\.reopen\(/,
      ),
      near({ where: 'code', within: 600 }, re`${SOCKET}`, re`${RUNS_WHAT_COMES}`),
    ],
  },
  {
    id: 'steals-or-mines',
    level: 'block',
    family: 'download and run',
    message:
      'Does what only harmful programs do: a hidden download that is run, a login key of a stranger, a false password prompt, a page run as a program, a miner',
    why: 'No skill needs it.',
    mend: 'Remove it from the skill.',
    patterns: [
      near(
        { within: 120 },
        /\b(?:curl|wget)\b[^\n]{0,200}?(?:-\w{0,3}o|>)\s?["']?(?:(?:\/tmp|\/var\/tmp|\/dev\/shm)\/(?:[\w-]{1,30}\/)?|(?:~|\$\{?home\}?)\/)\.[\w-]{1,30}(?=[\s"';&])/,
        /\bchmod\s(?:\+x|7\d\d)|\b(?:ba|z)?sh\s[~$/.]|\bnohup\b/,
      ),
      ...each(
        {},
        /\b(?:echo|printf)\s["']?(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\w{4,12})\saaaa[^\n]{0,800}?>>?\s?[^\n]{0,60}authorized_keys/,
        /\bdisplay dialog\b[^\n]{0,200}\bhidden answer\b|\bdscl\s[^\n]{0,30}-authonly\b|\bstratum\+(?:tcp|ssl):\/\/|\bxmrig\s-|\bminerd\s-/,
        /\b(?:mshta(?:\.exe)?\s["']?(?:https?:|javascript:|vbscript:)|regsvr32(?:\.exe)?\s[^\n]{0,40}?\/i:["']?https?:|rundll32(?:\.exe)?\s["']?(?:javascript:|[^\n]{0,60}?https?:))/,
      ),
    ],
  },
  {
    id: 'fetch-and-run',
    level: 'warn',
    family: 'download and run',
    message: 'Fetches a program and runs it in one step',
    why: 'Nobody reads what is run, and the host may send something else to each of its callers.',
    mend: 'Name a package and a version, or download, compare a digest, then run.',
    patterns: each(
      { unless: OFFICIAL },
      re`\b${FETCH}\b(?!\s(?:\.\.\.|…))[^\n|]{0,300}?${PIPE}(?:[^\n|]{0,80}${PIPE}){0,2}?${AS_ROOT}(?:${SHELL}${END}|iex\b|invoke-expression\b|(?:python[\d.]{0,5}|node|perl|ruby|php)(?:\s-)?(?=\s{0,3}(?:$|\n|["'\`);&])))`,
      re`${RUNS}\s?(?:${FETCH}|new-object)\b`,
      re`\b(?:exec|eval|pickle\.loads|marshal\.loads|new function|runpy\.\w{2,12}|include_string|(?<![.\w])load(?:string)?)\s?\(\s?(?:await\s)?[\w.,( ]{0,60}?${FETCH}\(|\bsource\(\s?["']https?://`,
    ),
  },
  {
    id: 'done-in-steps',
    level: 'block',
    family: 'download and run',
    message:
      'Does in steps that stand apart what an attack does in one: fetches and runs, or reads a secret and sends it',
    why: 'Who reads one section or one file does not see what they do together.',
    mend: 'Do it in one place, and name whose program it is or whose secret.',
    whole: stepsOf,
  },
];
