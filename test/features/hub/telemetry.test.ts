import { type Meter, metrics, type Tracer, trace } from '@opentelemetry/api';
import { expect, it, onTestFinished } from 'vitest';
import { DEPLOY, openHub } from '../../helpers/hub.ts';

/** Providers that keep what they are given, set for the whole process, as a host sets them. */
function setProviders(note: (name: string, attributes: unknown, value?: number) => void): void {
  const instrument = (name: string) => {
    const keep = (value: number, attributes: unknown) => note(name, attributes, value);
    return { add: keep, record: keep };
  };
  const meter = { createCounter: instrument, createHistogram: instrument } as unknown as Meter;
  metrics.setGlobalMeterProvider({ getMeter: () => meter });
  const startSpan: unknown = (name: string, { attributes }: { attributes: object }) => {
    const more: Record<string, string> = {};
    return {
      setAttribute: (key: string, value: string) => Object.assign(more, { [key]: value }),
      end: () => note(name, { ...attributes, ...more }),
    };
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as Tracer });
  onTestFinished(() => {
    metrics.disable();
    trace.disable();
  });
}

const of = (method: string, route: string, status: number) => {
  return { 'http.request.method': method, 'http.route': route, 'http.response.status_code': status };
};

it('counts and traces requests by their route, with nothing that a caller has sent', async () => {
  const noted: unknown[] = [];
  setProviders((...one) => noted.push(one));
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  await hub.publish(admin, 'deploy', DEPLOY);
  await hub.ask(undefined, 'GET', '/search?q=secret-words');
  const put = of('PUT', '/v1/spaces/:space/skills/:id', 200);
  const get = of('GET', '/v1/spaces/:space/search', 401);
  expect(noted).toEqual([
    ['PUT /v1/spaces/:space/skills/:id', put],
    ['skill_hub_request_total', put, 1],
    ['skill_hub_request_duration_seconds', put, expect.any(Number)],
    ['GET /v1/spaces/:space/search', { ...get, 'error.type': 'HUB_NO_PRINCIPAL' }],
    ['skill_hub_request_total', get, 1],
    ['skill_hub_request_duration_seconds', get, expect.any(Number)],
  ]);
});

it('answers when the provider throws', async () => {
  setProviders(() => {
    throw new Error('no exporter');
  });
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  expect((await hub.publish(admin, 'deploy', DEPLOY)).status).toBe(200);
  expect(hub.errors).toEqual([]);
});
