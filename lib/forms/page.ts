import type { Piece } from '../html/index.ts';

export interface Page {
  /** Without the name of the product. */
  readonly title: string;
  /** Address of the selected entry of the navigation. */
  readonly at?: string;
  readonly main: Piece;
  /** `refresh` reads the `data-live` parts again after a change; `notice` (default, for forms) offers to reload. */
  readonly live?: 'refresh' | 'notice';
  /** Default: 200. */
  readonly status?: 200 | 400 | 409;
}

/** To a request. A redirect after a form is a GET. */
export type Answer = Page | { readonly text: string } | { readonly redirect: string };
