import { expect, test } from '@jest/globals';
import type {
  ImportRecordsRequest,
  ImportRecordsResponse,
} from '../../../../generated/proto/integration/platform/v1/import.js';
import type { PlatformUnitOfWork } from '../../../../src/domain/platform/unit-of-work.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { importHandlers } from '../../../../src/rpc/domain-server/platform/import.js';
import type { CallContext } from '../../../../src/rpc/handlers.js';

const location = { clientId: 'cli_1', name: 'A' };

async function* requests() {
  yield { part: { $case: 'options', value: {} } } as ImportRecordsRequest;
  const lines = [{ line: 7, record: { $case: 'location', value: location } }];
  yield { part: { $case: 'lines', value: { lines } } } as ImportRecordsRequest;
}

/** The last report on an import of one line, whose creation fails with the code. */
async function imported(code: ErrorCode): Promise<ImportRecordsResponse | undefined> {
  const createLocation = () => Promise.reject(new ServiceError(code, 'Refused.'));
  const { importRecords } = importHandlers({ createLocation });
  const context = { signal: new AbortController().signal } as CallContext;
  const reports = importRecords?.(requests(), {} as PlatformUnitOfWork, context);
  const refusedLines: ImportRecordsResponse['refusedLines'] = [];
  let last: ImportRecordsResponse | undefined;
  for await (const report of reports as AsyncIterable<ImportRecordsResponse>) {
    refusedLines.push(...report.refusedLines);
    last = { ...report, refusedLines };
  }
  return last;
}

test('a line that is at fault is refused', async () => {
  await expect(imported(ErrorCode.ALREADY_EXISTS)).resolves.toMatchObject({
    ...{ read: 1, imported: 0, refused: 1, done: true },
    refusedLines: [{ line: 7, error: { code: ErrorCode.ALREADY_EXISTS } }],
  });
});

test.each([ErrorCode.INTERNAL_ERROR, ErrorCode.UNAVAILABLE, ErrorCode.RATE_LIMITED])(
  'a line that could not be written for now (%s) ends the import, and is not told as refused',
  async (code) => {
    await expect(imported(code)).rejects.toMatchObject({ code });
  },
);
