import { html } from '../../../../lib/html/index.ts';
import { table } from '../../../../lib/widgets/index.ts';
import type { ReviewPages } from '../../core/review.ts';

export const pages: ReviewPages = {
  navigation: [{ address: '/glossary', text: 'Glossary' }],
  get: {
    '/glossary': ({ registry }) => ({
      title: 'Glossary',
      at: '/glossary',
      main: html`<h1>Glossary</h1>${table('Who read it', ['Agent', 'Times'], [...registry.admin.glossaryReaders()])}`,
    }),
  },
};
