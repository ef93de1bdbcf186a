import { type Meter, metrics } from '@opentelemetry/api';
import { expect, it, onTestFinished } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';

interface Measured {
  readonly instrument: string;
  readonly value: number;
  readonly attributes: unknown;
}

/** A meter provider that keeps what it is given, set for the whole process, as a host sets one. */
function setMeter(note: (measured: Measured) => void): void {
  const instrument = (name: string) => ({
    add: (value: number, attributes: unknown) => note({ instrument: name, value, attributes }),
    record: (value: number, attributes: unknown) => note({ instrument: name, value, attributes }),
  });
  const meter = { createCounter: instrument, createHistogram: instrument } as unknown as Meter;
  metrics.setGlobalMeterProvider({ getMeter: () => meter });
  onTestFinished(() => metrics.disable());
}

it('counts loads and their time through the OpenTelemetry of the host', async () => {
  const measured: Measured[] = [];
  setMeter((one) => measured.push(one));
  const { registry } = await openRegistry({ ...skill('tea'), 'skills/tea/times.md': 'Two.' });
  await registry.read('tea', {}, { agentId: 'clerk' });
  await registry.readResource('tea', 'times.md', {});
  await registry.read('gone', {}, {}).catch(() => undefined);
  await registry.usage.events();
  expect(measured).toEqual([
    { instrument: 'skill_load_total', value: 1, attributes: { name: 'tea', source: 'skills' } },
    { instrument: 'skill_load_duration_seconds', value: expect.any(Number), attributes: { name: 'tea' } },
  ]);
  const [event] = await registry.usage.events({ kind: 'load' });
  expect(measured[1]?.value).toBeCloseTo((event?.durationMs ?? 0) / 1000, 9);
});

it('goes on recording when the meter of the host throws', async () => {
  setMeter(() => {
    throw new Error('no exporter');
  });
  const { registry } = await openRegistry(skill('tea'));
  await registry.read('tea', {}, {});
  expect(await registry.usage.events()).toHaveLength(1);
});

it('measures nothing with usage: false', async () => {
  const measured: Measured[] = [];
  setMeter((one) => measured.push(one));
  const { registry } = await openRegistry(skill('tea'), { usage: false });
  await registry.read('tea', {}, {});
  await registry.close();
  expect(measured).toEqual([]);
});
