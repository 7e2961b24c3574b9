import type { DescMethod, JsonObject } from '@bufbuild/protobuf';
import type { ErrorDetail } from '../../../../generated/proto/integration/errors/v1/errors.js';
import type {
  ImportRecordsResponse,
  RefusedLine,
} from '../../../../generated/proto/integration/platform/v1/import.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { DynamicClient } from '../../../rpc/dynamic-client.js';
import { misfitsOf } from '../../../rpc/request-check.js';
import { stopSignal } from '../../stop-signals.js';
import { FailedCall, Unfinished, UsageError } from '../errors.js';
import type { FileLine } from '../file-lines.js';
import { print } from '../output/print.js';
import { asJson, printableLine } from '../output/printable.js';
import { ProgressBar } from '../output/progress-bar.js';
import { type TargetOptions, targetOf } from '../target.js';
import { ImportProgress, messagesOf, openLines } from './import-lines.js';

export interface ImportCommandOptions extends TargetOptions {
  dryRun?: boolean;
  stopAtFirstRefusal?: boolean;
  ids?: boolean;
  json?: boolean;
}

type Outcome = Pick<ImportRecordsResponse, 'imported' | 'importedLines' | 'refusedLines'>;

/** The path of the line in the message by which it is checked. */
const PREFIX = /^lines\.lines\[0\]\.?/;

export async function importRecords(file: string, options: ImportCommandOptions): Promise<void> {
  const target = targetOf(options, 'platform');
  const stop = stopSignal().signal;
  const source = openLines(file, stop);
  const client = new DynamicClient(target.address, target.token, target.credentials);
  const bar = new ProgressBar();
  const progress = new ImportProgress(source.size);
  const outcome: Outcome = { imported: 0, importedLines: [], refusedLines: [] };
  let refusedByService = 0;
  try {
    const method = await importMethod(client);
    const lines = progress.counted(source.lines, stop);
    const requests = requestsOf(lines, method, options, outcome, () => progress.sent());
    for await (const answer of client.stream(method, requests)) {
      // The JSON of protobuf leaves out zeros and empty lists.
      const { imported = 0, importedLines = [], refusedLines = [] } = answer as unknown as Partial<Outcome>;
      outcome.imported = imported;
      outcome.importedLines.push(...importedLines);
      outcome.refusedLines.push(...refusedLines);
      refusedByService += refusedLines.length;
      const share = progress.share(outcome.imported + refusedByService);
      bar.show(share, `${outcome.imported} imported, ${outcome.refusedLines.length} refused`);
    }
    bar.clear();
    settle(outcome, options, true);
    tell(outcome, options);
  } catch (error) {
    bar.clear();
    settle(outcome, options, refusedByService > 0);
    if (outcome.imported + outcome.refusedLines.length > 0) {
      tell(outcome, options);
    }
    throw error instanceof ServiceError ? new FailedCall(error, target.address) : error;
  } finally {
    client.close();
    if (file === '-') {
      // An open standard input would keep the process running.
      process.stdin.destroy();
    }
  }
  if (progress.isStopped) {
    throw new Unfinished(`Interrupted: the lines after line ${progress.readLines} were not read.`);
  }
  const refused = outcome.refusedLines.length;
  if (refused > 0) {
    throw new Unfinished(refused === 1 ? 'A line was refused.' : `${refused} lines were refused.`);
  }
}

async function importMethod(client: DynamicClient): Promise<DescMethod> {
  const found = (await client.methods()).find(({ name }) => name === 'ImportRecords');
  if (!found) {
    throw new UsageError('The service at this address has no import.');
  }
  return found;
}

function requestsOf(
  lines: AsyncIterable<FileLine>,
  method: DescMethod,
  { dryRun = false, stopAtFirstRefusal = false, ids = false }: ImportCommandOptions,
  outcome: Outcome,
  onSent: () => void,
) {
  const misfits = (line: JsonObject) => {
    const found = misfitsOf(method.input, { lines: { lines: [line] } });
    if (found.length === 0) {
      onSent();
    }
    return found.map(({ path, message }) => ({ path: path.replace(PREFIX, '') || 'line', message }));
  };
  const settings = { dryRun, stopAtFirstRefusal, reportIds: ids };
  return messagesOf(lines, settings, misfits, ({ line, violations }) => {
    const message = 'The line was not sent, because it does not fit what can be imported.';
    const error = { code: ErrorCode.INVALID_REQUEST, message, fieldViolations: [...violations] };
    outcome.refusedLines.push({ line, error });
  });
}

/**
 * Sorts the refusals. Of an import that stops at the first one, it keeps only that, and none unless the
 * service has come to it: the command reads ahead of the service, and refuses lines itself.
 */
function settle(
  { refusedLines }: Outcome,
  { stopAtFirstRefusal }: ImportCommandOptions,
  isReached: boolean,
): void {
  refusedLines.sort((one, other) => one.line - other.line);
  if (stopAtFirstRefusal) {
    refusedLines.splice(isReached ? 1 : 0);
  }
}

/** Also prints the outcome of an interrupted import: what was imported stays. */
function tell(
  { imported, importedLines, refusedLines: lines }: Outcome,
  { json, dryRun = false, ids }: ImportCommandOptions,
): void {
  const refused = lines.length;
  const refusedLines = lines.map(refusalIn);
  if (json) {
    print(asJson({ dryRun, imported, refused, importedLines, refusedLines }));
    return;
  }
  const created = ids ? importedLines.map(({ line, id }) => `line ${line}: ${id}`) : [];
  const verb = dryRun ? 'would be imported' : 'imported';
  const sum = `${imported} ${verb}, ${refused} refused.`;
  print([...created, ...refusedLines.map(asText), sum].join('\n'));
}

function refusalIn({ line, error }: RefusedLine) {
  const { code, message, fieldViolations = [] } = error as ErrorDetail;
  return { line, code: code.replace('ERROR_CODE_', ''), message, fieldViolations };
}

function asText({ line, code, message, fieldViolations }: ReturnType<typeof refusalIn>): string {
  const violations = fieldViolations.map(
    ({ path, message: what }) => `\n  - ${printableLine(`${path} ${what}`)}`,
  );
  return `line ${line}: ${printableLine(message)} (${code.toLowerCase()})${violations.join('')}`;
}
