import { join } from 'node:path';
import { expect, it } from 'vitest';
import { approvedByCode, versionsLoaded, waitingCode } from '../../../helpers/half-approved.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

it('loads one version of what somebody tries to approve while it is imported', { timeout: 60_000 }, async () => {
  // main.ts is read before this runs, and a.ts after it.
  const code = waitingCode('globalThis.approveNow?.();');
  const outcome = approvedByCode(code);
  expect(await versionsLoaded(code.root)).toEqual(['old']);
  expect(outcome.error).toMatchObject({
    code: 'WRITE_FAILED',
    message: expect.stringMatching(/loads code.*Try again/),
  });
  Reflect.deleteProperty(globalThis, 'approveNow');
  expect(await versionsLoaded(code.root)).toEqual(['old']);
});

it('loads one version of what is approved in another root, into which a link leads', { timeout: 60_000 }, async () => {
  const code = waitingCode('globalThis.approveNow?.();');
  const other = tempFolder({ extensions: { link: join(code.root, 'extensions') } });
  const outcome = approvedByCode(code);
  expect(await versionsLoaded(other)).toEqual(['old']);
  expect(outcome.error).toMatchObject({ code: 'WRITE_FAILED' });
});
