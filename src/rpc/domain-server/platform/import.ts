import type {
  ImportLine,
  ImportOptions,
  ImportRecordsRequest,
  ImportRecordsResponse,
} from '../../../../generated/proto/integration/platform/v1/import.js';
import { rehearsalOf } from '../../../domain/unit-of-work.js';
import { asServiceError, ErrorCode, invalidField, type ServiceError } from '../../../errors/service-error.js';
import { type AnyMethod, type CallContext, type Handler, refuseNul } from '../../handlers.js';
import { pipelined } from './pipeline.js';
import type { PlatformCall, PlatformHandlers } from './write.js';

/** As many as the store commits together. */
const MAX_LINES_IN_FLIGHT = 128;
const MAX_LINES_IN_MESSAGE = 1_000;
/** Per line. */
const MAX_VIOLATIONS_OF_LINE = 100;

/** Imports each line with the handler of its call; a dry run writes nothing. */
export function importHandlers(handlers: PlatformHandlers): PlatformHandlers {
  return {
    importRecords: async function* (requests, unitOfWork, context) {
      const parts = requests[Symbol.asyncIterator]();
      const options = await optionsOf(parts);
      // Lines take effect in order, and nothing may be written after a refusal that ends the import.
      const atOnce = unitOfWork.inOrder && !options.stopAtFirstRefusal ? MAX_LINES_IN_FLIGHT : 1;
      const progress = new Progress(options);
      const lines = progress.counting(linesOf(parts, context));
      const ofLines = options.dryRun ? rehearsalOf(unitOfWork) : unitOfWork;
      const outcomes = pipelined(lines, atOnce, (line) => importLine(handlers, line, ofLines, context));
      for await (const settled of outcomes) {
        const refused = progress.add(settled);
        if (refused && options.stopAtFirstRefusal) {
          break;
        }
        yield progress.report(false);
      }
      yield progress.report(true);
    },
  };
}

/** Progress for the importer: counts from the beginning, lines since the last report. */
class Progress {
  #read = 0;
  #imported = 0;
  #refused = 0;
  #untold: LineOutcome[] = [];

  constructor(private readonly options: ImportOptions) {}

  async *counting(lines: AsyncIterable<ImportLine>): AsyncGenerator<ImportLine> {
    for await (const line of lines) {
      this.#read += 1;
      yield line;
    }
  }

  /** Whether a line was refused. */
  add(outcomes: readonly LineOutcome[]): boolean {
    const refused = outcomes.filter((outcome) => 'refusal' in outcome).length;
    this.#refused += refused;
    this.#imported += outcomes.length - refused;
    this.#untold.push(...outcomes);
    return refused > 0;
  }

  report(done: boolean): ImportRecordsResponse {
    const untold = this.#untold;
    this.#untold = [];
    const { reportIds, dryRun } = this.options;
    return {
      read: this.#read,
      imported: this.#imported,
      refused: this.#refused,
      importedLines: untold.flatMap((outcome) =>
        reportIds && 'id' in outcome ? [{ line: outcome.line, id: dryRun ? '' : outcome.id }] : [],
      ),
      refusedLines: untold.flatMap((outcome) =>
        'refusal' in outcome ? [{ line: outcome.line, error: detailOf(outcome.refusal) }] : [],
      ),
      done,
    };
  }
}

function detailOf({ code, message, fieldViolations, rateLimit, retryAfterSeconds }: ServiceError) {
  return {
    code,
    message,
    fieldViolations: fieldViolations.slice(0, MAX_VIOLATIONS_OF_LINE),
    rateLimit,
    retryAfterSeconds,
  };
}

async function optionsOf(parts: AsyncIterator<ImportRecordsRequest>): Promise<ImportOptions> {
  const { value, done } = await parts.next();
  if (done || value.part?.$case !== 'options') {
    throw misplaced('options', 'must be in the first message');
  }
  return value.part.value;
}

/** Ends early when the importer disconnects: the outcome of further lines could not be reported. */
async function* linesOf(
  parts: AsyncIterator<ImportRecordsRequest>,
  { signal }: CallContext,
): AsyncGenerator<ImportLine> {
  for (;;) {
    const { value, done } = await parts.next();
    if (done) {
      return;
    }
    if (value.part?.$case !== 'lines') {
      throw misplaced(
        value.part ? 'options' : 'part',
        value.part ? 'must be in the first message only' : 'must be set',
      );
    }
    const { lines } = value.part.value;
    if (lines.length > MAX_LINES_IN_MESSAGE) {
      throw misplaced('lines.lines', `must not have more than ${MAX_LINES_IN_MESSAGE} items`);
    }
    for (const line of lines) {
      if (signal.aborted) {
        return;
      }
      yield line;
    }
  }
}

function misplaced(path: string, message: string): ServiceError {
  return invalidField('The import cannot continue; earlier lines stay imported.', path, message);
}

/** The outcome of a line: the id of what it created, or the refusal. */
type LineOutcome = { line: number } & ({ id: string } | { refusal: ServiceError });

/** RATE_LIMITED: too many others change the same data at the moment. */
const NOT_ABOUT_THE_LINE: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.INTERNAL_ERROR,
  ErrorCode.UNAVAILABLE,
  ErrorCode.RATE_LIMITED,
]);

/** Does what the call of the same request would do. Throws errors that no change of the line can fix. */
async function importLine(
  handlers: PlatformHandlers,
  { line, record }: ImportLine,
  ...call: PlatformCall
): Promise<LineOutcome> {
  try {
    if (!record) {
      throw invalidField(
        'The line has no record.',
        'record',
        'must be one of the things that can be imported',
      );
    }
    refuseNul(record.value);
    const handler = handlers[CALLS[record.$case]] as Handler<AnyMethod, PlatformCall>;
    const answer = await handler(record.value, ...call);
    // A job title has no id.
    return { line, id: record.$case === 'jobTitle' ? answer.title : answer[record.$case].id };
  } catch (error) {
    const refusal = asServiceError(error);
    if (NOT_ABOUT_THE_LINE.has(refusal.code)) {
      throw error;
    }
    return { line, refusal };
  }
}

/** The call of each kind of line. */
const CALLS = {
  client: 'createClient',
  role: 'createRole',
  user: 'createUser',
  unitType: 'createUnitType',
  unit: 'createUnit',
  location: 'createLocation',
  jobTitle: 'addJobTitle',
  worker: 'onboardWorker',
} as const satisfies Record<NonNullable<ImportLine['record']>['$case'], keyof PlatformHandlers>;
