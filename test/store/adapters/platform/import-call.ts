import { Client, credentials, Metadata } from '@grpc/grpc-js';
import type {
  ImportLine,
  ImportOptions,
  ImportRecordsRequest,
  ImportRecordsResponse,
} from '../../../../generated/proto/integration/platform/v1/import.js';
import { PlatformServiceService } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { fromStatus } from '../../../../src/rpc/error-trailer.js';
import { TOKENS } from '../../../rpc/rig.js';

type Record = NonNullable<ImportLine['record']>;

const NO_OPTIONS: ImportOptions = { dryRun: false, stopAtFirstRefusal: false, reportIds: true };

const DEADLINE_MS = 20_000;

/** An import under way, as an importer in another process has it. */
export function openImport(address: string, token: string = TOKENS.platform, deadlineMs = DEADLINE_MS) {
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const { path, requestSerialize, responseDeserialize } = PlatformServiceService.importRecords;
  const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata, {
    deadline: Date.now() + deadlineMs,
  });
  const answers = call[Symbol.asyncIterator]();
  const send = (part: ImportRecordsRequest['part']) => call.write({ part });
  return {
    send,
    begin: (options: Partial<ImportOptions> = {}) =>
      send({ $case: 'options', value: { ...NO_OPTIONS, ...options } }),
    lines: (...lines: ImportLine[]) => send({ $case: 'lines', value: { lines } }),
    end: () => call.end(),
    next: async (): Promise<ImportRecordsResponse> => (await answers.next()).value,
    /** All that is still answered; the refusal of the whole import among it, if it is refused. */
    rest: async () => {
      const responses: ImportRecordsResponse[] = [];
      try {
        for (let next = await answers.next(); !next.done; next = await answers.next()) {
          responses.push(next.value);
        }
        return { responses };
      } catch (error) {
        return { responses, refusal: fromStatus(error as never) };
      } finally {
        client.close();
      }
    },
  };
}

/** One import of these records, numbered from 1, many per message; returns the reports in order. */
export async function importing(address: string, records: Record[], options: Partial<ImportOptions> = {}) {
  const call = openImport(address);
  call.begin(options);
  const lines = records.map((record, index) => ({ line: index + 1, record }));
  for (let at = 0; at < lines.length; at += 100) {
    call.lines(...lines.slice(at, at + 100));
  }
  call.end();
  const { responses, refusal } = await call.rest();
  return {
    refusal,
    last: responses.at(-1),
    doneFlags: responses.map(({ done }) => done),
    imported: responses.flatMap(({ importedLines }) => importedLines),
    refused: responses.flatMap(({ refusedLines }) =>
      refusedLines.map(({ line, error }) => ({
        line,
        code: error?.code.replace('ERROR_CODE_', ''),
        paths: error?.fieldViolations.map(({ path }) => path),
      })),
    ),
  };
}

export function locationRecord(clientId: string, name: string, idempotencyKey?: string): Record {
  return { $case: 'location', value: { clientId, name, idempotencyKey } };
}

export function workerRecord(clientId: string, email: string, unitIds: string[] = []): Record {
  const person = { firstName: 'Ines', lastName: 'Carver', jobTitles: ['Welder'] };
  return { $case: 'worker', value: { clientId, email, ...person, unitIds } };
}
