import type { HubRequest } from './api.ts';

/**
 * Counts and traces requests through `@opentelemetry/api`, if the process has it with a provider.
 * @returns a function that never throws.
 */
export async function loadTelemetry(): Promise<(request: HubRequest) => void> {
  const api = await import('@opentelemetry/api').catch(() => undefined);
  return ({ method, route, status, ms, code }) => {
    try {
      if (!api) return;
      const attributes = { 'http.request.method': method, 'http.route': route, 'http.response.status_code': status };
      const startTime = Date.now() - ms;
      const span = api.trace.getTracer(NAME).startSpan(`${method} ${route}`, { startTime, attributes });
      if (code !== undefined) span.setAttribute('error.type', code);
      span.end();
      const meter = api.metrics.getMeter(NAME);
      meter.createCounter('skill_hub_request_total', { description: 'Requests to a hub' }).add(1, attributes);
      const seconds = { description: 'Time of a request to a hub', unit: 's' };
      meter.createHistogram('skill_hub_request_duration_seconds', seconds).record(ms / 1000, attributes);
    } catch {
      // A failing exporter must not end a request.
    }
  };
}

// --- internal ---

const NAME = 'skill-registry';
