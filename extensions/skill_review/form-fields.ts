import { invalidArgument } from './errors.ts';
import type { ReviewContext } from './review.ts';

/** The fields of a form; the guard has parsed it already. */
export async function fieldsOf(context: ReviewContext): Promise<{
  /** @throws INVALID_ARGUMENT when it is missing. */
  text(name: string): string;
  /** Undefined when it is missing or blank. */
  optional(name: string): string | undefined;
}> {
  const body = await context.req.parseBody();
  const fieldOf = (name: string): string | undefined => {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  return {
    text(name) {
      const value = fieldOf(name);
      if (value === undefined) throw invalidArgument(`The form has no "${name}". Reload the page and try again.`);
      return value;
    },
    optional: (name) => fieldOf(name)?.trim() || undefined,
  };
}
