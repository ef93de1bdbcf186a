/** Parts of expressions that several rules use. For folded text in lower case; repetitions are bounded. */

/** A shell at the end of a pipe or before its script. */
export const SHELL = '(?:[\\w./-]{0,40}/)?(?:ba|z|da|k|fi|c|tc)?sh';
export const INTERPRETER: string = `(?:${SHELL}|(?:[\\w./-]{0,40}/)?(?:python[\\d.]{0,5}|perl|ruby|node|php|osascript|pwsh|powershell)|iex|invoke-expression)`;
/** Programs and calls that get something from the network. */
export const FETCH =
  '(?:curl|wget|aria2c|lwp-download|iwr|irm|invoke-webrequest|invoke-restmethod|start-bitstransfer|downloadstring|downloadfile|urlopen|urlretrieve|requests\\.get|httpx\\.get|fetch)';
/** An address of the internet that has no name, also in decimal or hexadecimal notation. */
export const BARE_ADDRESS =
  '(?:https?|ftp)://(?:[^\\s/@"\']{1,60}@)?(?!127\\.|10\\.|192\\.168\\.|172\\.(?:1[6-9]|2\\d|3[01])\\.|0\\.0\\.0\\.0|169\\.254\\.)(?:(?:\\d{1,3}\\.){3}\\d{1,3}|0x[0-9a-f]{8}|\\d{9,10})(?![\\w.])';
export const PIPE = '(?<!\\|)\\|&?\\s{0,3}';
export const AS_ROOT = '(?:(?:sudo|doas|env|exec|command|nohup|xargs)\\s(?:-[\\w-]{1,20}\\s){0,3}){0,2}';
/** After a program that runs what comes through a pipe. */
export const END = '(?![\\w./-])';
