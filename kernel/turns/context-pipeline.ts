import type { ContextProvider, TurnContext } from '../contract.ts';
import { DeadlineError, withDeadline } from './deadline.ts';

/** Between the parts of a system text. */
export const PART_SEPARATOR = '\n\n---\n\n';

export interface NamedContextProvider {
  readonly extensionId: string;
  readonly provider: ContextProvider;
}

export interface ProviderFailure {
  readonly extensionId: string;
  readonly code: 'CONTEXT_PROVIDER_FAILED' | 'CONTEXT_PROVIDER_TIMEOUT';
  readonly error: unknown;
}

/**
 * Asks every provider for its text and returns the texts in ascending priority; equal priorities keep their order.
 *
 * Providers run side by side, each with the whole budget, so a slow one costs a turn at most `budgetMs`.
 *
 * @param onFailure - Told of a provider that throws, rejects, answers something else than text, or does not settle.
 */
export async function collectContext(
  providers: readonly NamedContextProvider[],
  prompt: string,
  turn: TurnContext,
  budgetMs: number,
  onFailure: (failure: ProviderFailure) => void,
): Promise<readonly { source: string; text: string }[]> {
  const ordered = [...providers].sort((a, b) => priorityOf(a) - priorityOf(b));
  const parts = await Promise.all(
    ordered.map(async ({ extensionId, provider }) => {
      try {
        const asked = Promise.resolve().then(() => provider.getContext(prompt, turn));
        const text = await withDeadline(asked, budgetMs);
        if (text !== null && typeof text !== 'string')
          throw new TypeError(`getContext gave ${typeof text}, expected text or null`);
        return text ? [{ source: extensionId, text }] : [];
      } catch (error) {
        const code = error instanceof DeadlineError ? 'CONTEXT_PROVIDER_TIMEOUT' : 'CONTEXT_PROVIDER_FAILED';
        onFailure({ extensionId, code, error });
        return [];
      }
    }),
  );
  return parts.flat();
}

// --- internal ---

function priorityOf({ provider }: NamedContextProvider): number {
  try {
    const { contextPriority } = provider;
    return Number.isFinite(contextPriority) ? contextPriority : 100;
  } catch {
    return 100;
  }
}
