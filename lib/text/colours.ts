import { styleText } from 'node:util';

const COLOURS = {
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
} as const;

export type Colour = keyof typeof COLOURS;

/** Only for a terminal for which `hasColour` is true. */
export function inColour(colour: Colour, text: string): string {
  return styleText([COLOURS[colour]].flat(), text, { validateStream: false });
}

/** False with NO_COLOR (no-color.org), and on a terminal that says it has no colours. */
export function hasColour(environment: Readonly<Record<string, string | undefined>>): boolean {
  return !environment.NO_COLOR && environment.TERM !== 'dumb';
}
