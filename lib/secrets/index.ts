type Texts = Readonly<Record<string, string>>;

/** Texts whose `${NAME}` are replaced by secrets. */
export interface FilledTexts {
  readonly filled: Texts;
  /** Names of secrets that are not set. */
  readonly missing: readonly string[];
  /** What must not be shown: the filled texts, and the secrets in them. */
  readonly secrets: readonly string[];
}

export function fillSecrets(texts: Texts = {}, getSecret: (name: string) => string | undefined): FilledTexts {
  const missing = new Set<string>();
  const secrets = new Set<string>();
  const filled = Object.entries(texts).map(([key, text]) => {
    const whole = text.replace(/\$\{(\w+)\}/g, (_, name: string) => {
      const secret = getSecret(name);
      if (secret === undefined) missing.add(name);
      else secrets.add(secret);
      return secret ?? '';
    });
    secrets.add(whole);
    return [key, whole];
  });
  return { filled: Object.fromEntries(filled), missing: [...missing], secrets: [...secrets] };
}

/** Short ones are left in: they are no secrets, and parts of words. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length > 3)
    .sort((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '…'), text);
}
