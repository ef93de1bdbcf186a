import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

export type Colour =
  | 'error'
  | 'warning'
  | 'title'
  | 'heading'
  | 'code'
  | 'quiet'
  | 'strong'
  | 'emphasis'
  | 'deleted'
  | 'file'
  | 'position'
  | 'added'
  | 'removed';

const COLOURS: Readonly<Record<Colour, Format>> = {
  error: ['red', 'bold'],
  warning: 'yellow',
  title: ['bold', 'underline'],
  heading: 'bold',
  code: 'cyan',
  quiet: 'dim',
  strong: 'bold',
  emphasis: 'italic',
  deleted: 'strikethrough',
  file: 'bold',
  position: 'cyan',
  added: 'green',
  removed: 'red',
};

/** Only for a terminal for which `hasColour` is true. */
export function inColour(colour: Colour, text: string): string {
  return styleText(COLOURS[colour], text, { validateStream: false });
}

/** False with NO_COLOR (no-color.org), and on a terminal that says it has no colours. */
export function hasColour(environment: Readonly<Record<string, string | undefined>>): boolean {
  return !environment.NO_COLOR && environment.TERM !== 'dumb';
}
