import type { UsageRow } from './recorder.ts';

/** Counts loads through `@opentelemetry/api`, where the host has that package and has set a meter provider. Never throws. */
export async function countLoads(rows: readonly UsageRow[]): Promise<void> {
  const loads = rows.filter(({ kind }) => kind === 'load');
  if (loads.length === 0) return;
  try {
    const { metrics } = await import('@opentelemetry/api');
    const meter = metrics.getMeter('skill-registry');
    const counter = meter.createCounter('skill_load_total', { description: 'Loads of skills' });
    const seconds = meter.createHistogram('skill_load_duration_seconds', { description: 'Time of a load', unit: 's' });
    for (const { skill: name, source, durationMs, outcome } of loads) {
      counter.add(1, { name, source: source ?? '' });
      // A body that was given without a request has no duration.
      if (durationMs !== null && outcome === 'success') seconds.record(durationMs / 1000, { name });
    }
  } catch {
    // The host has no OpenTelemetry, or its meter fails, which must not stop recording.
  }
}
