import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDesigns, seedsPage } from './page.ts';

writeFileSync(join(import.meta.dirname, '../../docs/seeds.md'), seedsPage(readDesigns().designs));
