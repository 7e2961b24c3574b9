import type { ImportLine } from '../../../../generated/proto/integration/platform/v1/import.js';
import { asServiceError, ErrorCode, invalidField, ServiceError } from '../../../errors/service-error.js';
import type { PlatformCall, PlatformHandlers } from './write.js';

/** The outcome of a line: the id of what it created, or the refusal. */
export type LineOutcome = { line: number } & ({ id: string } | { refusal: ServiceError });

/** RATE_LIMITED: too many others change the same data at the moment. */
const NOT_ABOUT_THE_LINE: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.INTERNAL_ERROR,
  ErrorCode.UNAVAILABLE,
  ErrorCode.RATE_LIMITED,
]);

/** Does what the call of the same request would do. Throws errors that no change of the line can fix. */
export async function importLine(
  handlers: PlatformHandlers,
  { line, record }: ImportLine,
  ...call: PlatformCall
): Promise<LineOutcome> {
  try {
    return { line, id: await create(handlers, record, call) };
  } catch (error) {
    const refusal = asServiceError(error);
    if (NOT_ABOUT_THE_LINE.has(refusal.code)) {
      throw error;
    }
    return { line, refusal };
  }
}

function create(
  handlers: PlatformHandlers,
  record: ImportLine['record'],
  call: PlatformCall,
): Promise<string> {
  switch (record?.$case) {
    case 'client':
      return idIn(handlers.createClient?.(record.value, ...call), ({ client }) => client?.id);
    case 'role':
      return idIn(handlers.createRole?.(record.value, ...call), ({ role }) => role?.id);
    case 'user':
      return idIn(handlers.createUser?.(record.value, ...call), ({ user }) => user?.id);
    case 'unitType':
      return idIn(handlers.createUnitType?.(record.value, ...call), ({ unitType }) => unitType?.id);
    case 'unit':
      return idIn(handlers.createUnit?.(record.value, ...call), ({ unit }) => unit?.id);
    case 'location':
      return idIn(handlers.createLocation?.(record.value, ...call), ({ location }) => location?.id);
    case 'jobTitle':
      return idIn(handlers.addJobTitle?.(record.value, ...call), ({ title }) => title);
    case 'worker':
      return idIn(handlers.onboardWorker?.(record.value, ...call), ({ worker }) => worker?.id);
    default:
      throw invalidField(
        'The line has no record.',
        'record',
        'must be one of the things that can be imported',
      );
  }
}

async function idIn<Answer>(
  answer: Promise<Answer> | undefined,
  idOf: (answer: Answer) => string | undefined,
): Promise<string> {
  const id = answer && idOf(await answer);
  if (id === undefined) {
    throw new ServiceError(ErrorCode.NOT_IMPLEMENTED, 'Lines of this kind are not part of this release yet.');
  }
  return id;
}
