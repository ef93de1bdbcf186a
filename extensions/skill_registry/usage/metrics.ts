import type { Counter, Histogram } from '@opentelemetry/api';
import type { UsageRow } from './recorder.ts';

/** Counts loads through `@opentelemetry/api`, where the host has that package and has set a meter provider. */
export interface LoadMetrics {
  /** Never throws. */
  count(rows: readonly UsageRow[]): Promise<void>;
}

export function createLoadMetrics(): LoadMetrics {
  let instruments: Promise<Instruments | undefined> | undefined;
  return {
    async count(rows) {
      const loads = rows.filter(({ kind }) => kind === 'load');
      if (loads.length === 0) return;
      instruments ??= loadInstruments();
      const found = await instruments;
      if (!found) return;
      try {
        for (const { skill: name, source, durationMs, outcome } of loads) {
          found.loads.add(1, { name, source: source ?? '' });
          // A body that was given without a request has no duration.
          if (durationMs !== null && outcome === 'success') found.seconds.record(durationMs / 1000, { name });
        }
      } catch {
        // The meter belongs to the host. Its failure must not stop recording.
      }
    },
  };
}

// --- internal ---

interface Instruments {
  readonly loads: Counter;
  readonly seconds: Histogram;
}

async function loadInstruments(): Promise<Instruments | undefined> {
  try {
    const { metrics } = await import('@opentelemetry/api');
    const meter = metrics.getMeter('skill-registry');
    return {
      loads: meter.createCounter('skill_load_total', { description: 'Loads of skills' }),
      seconds: meter.createHistogram('skill_load_duration_seconds', { description: 'Time of a load', unit: 's' }),
    };
  } catch {
    // The host has no OpenTelemetry.
    return undefined;
  }
}
