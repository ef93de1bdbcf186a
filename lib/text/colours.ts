import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** What has a colour. Of a difference: its files, the positions in them, and their lines. */
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

/** The colours of everything that the command writes to a terminal. */
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

/** Text in a colour. Only for a terminal; NO_COLOR is asked by `hasColour`. */
export function inColour(colour: Colour, text: string): string {
  return styleText(COLOURS[colour], text, { validateStream: false });
}

/** False when NO_COLOR is set to anything but the empty text (no-color.org), and on a terminal that says it can show none. */
export function hasColour(environment: Readonly<Record<string, string | undefined>>): boolean {
  return !environment.NO_COLOR && environment.TERM !== 'dumb';
}
