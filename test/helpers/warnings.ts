import { onTestFinished } from 'vitest';

/** What Node warns of in this process, from now until the test has finished; oldest first. */
export function warningsOfProcess(): readonly string[] {
  const warnings: string[] = [];
  const note = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  return warnings;
}
