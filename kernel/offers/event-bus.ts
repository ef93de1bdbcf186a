/** Passes events between extensions. A handler that throws or rejects is reported with its owner and does not stop the rest. */
export interface EventBus {
  emit(event: string, payload: unknown): void;
  /** @returns ends the subscription. */
  subscribe(owner: string, event: string, handler: EventHandler): () => void;
  /** Ends every subscription of one extension. */
  unsubscribeAll(owner: string): void;
}

export type EventHandler = (payload: unknown) => void | Promise<void>;

/** @param onFailure - Called once per failed handler call; must not throw. */
export function createEventBus(onFailure: (owner: string, event: string, error: unknown) => void): EventBus {
  const subscriptions = new Set<{ owner: string; event: string; handler: EventHandler }>();
  return {
    emit(event, payload) {
      for (const subscription of [...subscriptions]) {
        if (subscription.event !== event) continue;
        const failed = (error: unknown): void => onFailure(subscription.owner, event, error);
        try {
          // A handler may return anything: an arrow function returns the value of its expression.
          Promise.resolve(subscription.handler(payload)).catch(failed);
        } catch (error) {
          failed(error);
        }
      }
    },
    subscribe(owner, event, handler) {
      const subscription = { owner, event, handler };
      subscriptions.add(subscription);
      return () => subscriptions.delete(subscription);
    },
    unsubscribeAll(owner) {
      for (const subscription of subscriptions) if (subscription.owner === owner) subscriptions.delete(subscription);
    },
  };
}
