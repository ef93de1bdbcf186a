/**
 * Renders a Jinja template. Nothing is escaped: the text goes to a model, not into HTML.
 *
 * @param strict - An undefined name is an error; otherwise it is left empty, as an undefined member always is.
 * @throws when the template is no Jinja, or by `strict`.
 */
export async function renderTemplate(
  template: string,
  variables: Readonly<Record<string, unknown>>,
  strict: boolean,
): Promise<string> {
  const { Environment, Interpreter, parse, tokenize } = await import('@huggingface/jinja');
  const program = parse(tokenize(template, { lstrip_blocks: true, trim_blocks: true }));
  const environment = new Environment();
  // The constants of the language: an environment made by hand has none.
  for (const [name, value] of Object.entries({ false: false, true: true, none: null, ...variables })) {
    environment.set(name, value);
  }
  if (strict) {
    const lookUp = environment.lookupVariable.bind(environment);
    environment.lookupVariable = (name: string) => {
      const value = lookUp(name);
      if (value.type === 'UndefinedValue') throw new Error(`"${name}" in the template is undefined`);
      return value;
    };
  }
  const result = new Interpreter(environment).run(program) as { readonly value: unknown };
  return String(result.value).trim();
}
