import type { RuleSamples } from './sample.ts';

export const FILES: RuleSamples = {
  'program-in-folder': {
    hits: [{ 'bin/helper': '\u007fELF\u0002\u0001\u0001\u0000' }, { 'a.exe': 'MZ\u0090\u0000\u0003' }],
    misses: [{ 'a.png': '\u0089PNG\r\n\u001a\n\u0000' }, { 'a.sh': '#!/bin/sh\necho a\n' }],
  },
  'archive-in-folder': {
    hits: [{ 'a.zip': 'PK\u0003\u0004\u0014\u0000' }, { 'data.bin': '\u001f\u008b\b\u0000\u0000' }],
    misses: [{ 'a.docx': 'PK\u0003\u0004\u0014\u0000' }, { 'a.png': '\u0089PNG\r\n\u001a\n\u0000' }],
  },
  'longer-than-searched': {
    hits: [{ 'a.txt': 'a'.repeat(1024 * 1024 + 1) }],
    misses: [{ 'a.txt': 'a' }],
  },
};
