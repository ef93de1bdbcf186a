import { expect, it } from 'vitest';
import { toWire } from '../../../lib/text/index.ts';

it('names fields as they stand on the wire, in their order', () => {
  const read = { skillId: 'tea', name: 'tea', approxTokens: 3, resourcesLeftOut: 1 };
  expect(JSON.stringify(toWire(read))).toBe('{"skill_id":"tea","name":"tea","approx_tokens":3,"resources_left_out":1}');
  // The compiler knows the names.
  const { approx_tokens } = toWire(read);
  expect(approx_tokens).toBe(3);
});

it('changes nothing in what stands in the fields, whose names may be an author’s', () => {
  const metadata = { someKey: { innerKey: 'camelCase' } };
  const why = { byAgent: { builderAgent: 1 } };
  expect(toWire({ metaData: metadata, why })).toEqual({ meta_data: metadata, why });
  expect(toWire({ metaData: metadata }).meta_data).toBe(metadata);
});
