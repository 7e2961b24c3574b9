import { expect, test } from '@jest/globals';
import type { PlatformUnitOfWork } from '../../../../src/domain/platform/unit-of-work.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { importLine } from '../../../../src/rpc/domain-server/platform/import.js';
import type { CallContext } from '../../../../src/rpc/handlers.js';

const line = {
  line: 7,
  record: { $case: 'location', value: { clientId: 'cli_1', name: 'A' } },
} as unknown as Parameters<typeof importLine>[1];

function imported(code: ErrorCode) {
  const createLocation = () => Promise.reject(new ServiceError(code, 'Refused.'));
  return importLine(
    { createLocation } as unknown as Parameters<typeof importLine>[0],
    line,
    {} as PlatformUnitOfWork,
    {} as CallContext,
  );
}

test('a line that is at fault is refused', async () => {
  await expect(imported(ErrorCode.ALREADY_EXISTS)).resolves.toMatchObject({
    line: 7,
    refusal: { code: ErrorCode.ALREADY_EXISTS },
  });
});

test.each([ErrorCode.INTERNAL_ERROR, ErrorCode.UNAVAILABLE, ErrorCode.RATE_LIMITED])(
  'a line that could not be written for now (%s) ends the import, and is not told as refused',
  async (code) => {
    await expect(imported(code)).rejects.toMatchObject({ code });
  },
);
