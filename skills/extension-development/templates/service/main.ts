import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Extension, ExtensionContext, ServiceProvider } from 'skill-registry/kernel';
import { z } from 'skill-registry/kernel';

// CHANGE together with `config` in manifest.yaml.
const Config = z.strictObject({ interval_seconds: z.number().positive() });

// CHANGE the class name here and in `entrypoint`.
export class ExampleService implements Extension, ServiceProvider {
  #context: ExtensionContext | undefined;
  #intervalMs = 0;
  #rounds = 0;

  async initialize(context: ExtensionContext): Promise<void> {
    const config = Config.safeParse(context.config);
    if (!config.success) throw new Error(`config: ${z.prettifyError(config.error)}`);
    this.#context = context;
    this.#intervalMs = config.data.interval_seconds * 1000;
  }

  async start(): Promise<void> {}

  // The service has ended before this is called, if it heeds its signal.
  async stop(): Promise<void> {}
  async destroy(): Promise<void> {}

  healthCheck(): boolean {
    return true;
  }

  // Called once every extension has started. Returns when `signal` aborts; rejecting starts it again after 1 s, 2 s, 4 s ...
  async runBackground(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#round(signal);
      // An abort ends the wait at once; it is no failure.
      await wait(this.#intervalMs, undefined, { signal }).catch(() => undefined);
    }
  }

  // CHANGE: the work. Hand `signal` on to everything that takes one.
  async #round(signal: AbortSignal): Promise<void> {
    const context = this.#context;
    if (!context) return;
    this.#rounds++;
    const result = { round: this.#rounds, at: new Date().toISOString() };
    await mkdir(context.dataDir, { recursive: true });
    await writeFile(join(context.dataDir, 'last-round.json'), `${JSON.stringify(result)}\n`, { signal });
    context.events.emit('example_round_done', result);
    // Only what a person has to know now: context.notifyUser('...').
  }
}
