import type { UsageRow } from './recorder.ts';

/** Counts through `@opentelemetry/api`, if the host has it and has set a meter provider. Never throws. */
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
    // No OpenTelemetry, or a failing meter, must not stop recording.
  }
}
