import {
  PlatformServiceService as methods,
  type PlatformServiceService,
} from '../../../../generated/proto/integration/platform/v1/platform.js';
import { isLonger } from '../../../domain/characters.js';
import type { Clock } from '../../../domain/clock.js';
import type { PasswordHasher } from '../../../domain/credentials/passwords.js';
import type { ForgetCopies } from '../../../domain/platform/people/erasure.js';
import { Trail } from '../../../domain/platform/trail.js';
import type { Changes, PlatformUnitOfWork } from '../../../domain/platform/unit-of-work.js';
import type { Repeatable } from '../../../domain/unit-of-work.js';
import { invalidField } from '../../../errors/service-error.js';
import { actorOf } from '../../call-audit.js';
import type { AnyMethod, CallContext, Handlers, RequestOf } from '../../handlers.js';
import { handlersOf, type Writes } from '../writes.js';

const MAX_KEY_LENGTH = 255;

export interface PlatformDependencies extends HandlerDependencies {
  unitOfWork: PlatformUnitOfWork;
}

/** Without a unit of work: handlers get that of their call, which reaches no further than its token. */
export interface HandlerDependencies {
  clock: Clock;
  passwords: PasswordHasher;
  /** The public address of the sign-on server, for mailed links. */
  signOnUrl: string;
  /** Keyed with a key outside the database: a plain hash of a request with a password could be guessed. */
  hashRequest(bytes: Uint8Array): Buffer;
  forgetCopies: ForgetCopies;
}

export type PlatformCall = [unitOfWork: PlatformUnitOfWork, context: CallContext];
export type PlatformHandlers = Handlers<PlatformServiceService, PlatformCall>;

/** Methods whose calls can be repeated under one idempotency key. */
type Repeatables = {
  [Name in keyof PlatformServiceService as 'idempotencyKey' extends keyof RequestOf<
    PlatformServiceService[Name]
  >
    ? Name
    : never]: PlatformServiceService[Name];
};

/** The handlers that only write. */
export function writing(
  { hashRequest }: HandlerDependencies,
  writes: Writes<Repeatables, Changes>,
): PlatformHandlers {
  return handlersOf<PlatformServiceService, Changes, PlatformCall>(
    writes,
    (name, work, request, unitOfWork, context) =>
      write({ unitOfWork, hashRequest }, name as keyof Repeatables, request as never, context, work),
  );
}

/**
 * Runs a write as one unit of work with its audit record, and replays the answer of a repeated call. Writes
 * without changes, and repeated calls, leave no record.
 */
export function write<Name extends keyof Repeatables, Response extends object>(
  { unitOfWork, hashRequest }: Pick<PlatformDependencies, 'unitOfWork' | 'hashRequest'>,
  name: Name,
  request: RequestOf<Repeatables[Name]>,
  context: CallContext,
  work: (changes: Changes) => Promise<Response>,
): Promise<Response> {
  const method = methods[name] as AnyMethod;
  const actor = actorOf(context);
  /** Runs the work, and audits its changes in the same transaction unless the work did so itself. */
  const audited = async (changes: Changes) => {
    const trail = new Trail();
    const answer = await work(trail.over(changes));
    if (trail.isUntold) {
      const [type, kind] = ACTIONS[name];
      const subject = subjectOf(kind, request, answer);
      const attributes = { ...trail.attributes(subject), ...ofEdit(name, request, answer) };
      await changes.audit(actor, { type, subject, attributes });
    }
    return answer;
  };
  const key = request.idempotencyKey;
  if (key === undefined) {
    return unitOfWork.run(audited);
  }
  if (key === '' || isLonger(key, MAX_KEY_LENGTH)) {
    const message = `must have between 1 and ${MAX_KEY_LENGTH} characters`;
    throw invalidField('The idempotency key cannot be used.', 'idempotency_key', message);
  }
  const bytes = method.requestSerialize({ ...request, idempotencyKey: undefined });
  const repeatable: Repeatable<Response> = {
    ownerId: context.identity.ownerId ?? actor.id,
    method: method.path,
    key,
    requestHash: hashRequest(bytes).toString('base64url'),
    encode: (answer) => method.responseSerialize(answer),
    decode: (answer) => method.responseDeserialize(Buffer.from(answer)) as Response,
  };
  return unitOfWork.run(audited, { repeatable });
}

/** The writing methods, but those whose record needs more than request and answer. Imports use them too. */
type Write = Exclude<
  keyof PlatformServiceService & string,
  `get${string}` | `list${string}` | `acknowledge${string}` | 'importRecords' | 'withdrawConsent'
>;

/** The audit action and subject of each write. The type requires all writes. */
const ACTIONS = {
  createInstance: ['instance.created', 'instance'],
  updateInstance: ['instance.updated', 'instance'],
  createClient: ['client.created', 'client'],
  updateClient: ['client.updated', 'client'],
  createUser: ['user.created', 'user'],
  updateUser: ['user.updated', 'user'],
  enableUser: ['user.enabled', 'user'],
  disableUser: ['user.disabled', 'user'],
  deleteUser: ['user.deleted', 'user'],
  createRole: ['role.created', 'role'],
  editRolePermissions: ['role.permissions_edited', 'role'],
  deleteRole: ['role.deleted', 'role'],
  createUnitType: ['unit_type.created', 'unitType'],
  updateUnitType: ['unit_type.updated', 'unitType'],
  deleteUnitType: ['unit_type.deleted', 'unitType'],
  createUnit: ['unit.created', 'unit'],
  updateUnit: ['unit.updated', 'unit'],
  deleteUnit: ['unit.deleted', 'unit'],
  createLocation: ['location.created', 'location'],
  updateLocation: ['location.updated', 'location'],
  deleteLocation: ['location.deleted', 'location'],
  // A job title has no id: it belongs to its client.
  addJobTitle: ['job_title.added', 'client'],
  renameJobTitle: ['job_title.renamed', 'client'],
  removeJobTitle: ['job_title.removed', 'client'],
  onboardWorker: ['worker.onboarded', 'worker'],
  updateWorker: ['worker.updated', 'worker'],
  assignWorkerUnits: ['worker.units_assigned', 'worker'],
  offboardWorker: ['worker.offboarded', 'worker'],
  updateAccount: ['account.updated', 'account'],
  enableAccount: ['account.enabled', 'account'],
  disableAccount: ['account.disabled', 'account'],
  eraseAccount: ['account.erased', 'account'],
  setPassword: ['password.set', 'account'],
  createPasswordLink: ['link.created', 'account'],
  createEmailVerificationLink: ['link.created', 'account'],
  createEmailChangeLink: ['link.created', 'account'],
} as const satisfies Record<Write, readonly [type: string, subject: string]>;

/** The subject of a write, from the answer, or from the request: a write finds what it names, or fails. */
function subjectOf(
  kind: (typeof ACTIONS)[Write][1],
  request: object,
  answer: object,
): { type: string; id: string } {
  const named = (request as Record<string, unknown>)[`${kind}Id`];
  const made = (answer as Record<string, { id?: string } | undefined>)[kind]?.id;
  return { type: kind === 'unitType' ? 'unit_type' : kind, id: made ?? String(named) };
}

/** An edit of a role changes more users than its record names, and only reads the role that they had. */
function ofEdit(name: keyof Repeatables, request: object, answer: object): Record<string, string> {
  if (name !== 'editRolePermissions') {
    return {};
  }
  const { roleId } = request as { roleId: string };
  const { repointedUsers } = answer as { repointedUsers: number };
  return { former_role_id: roleId, users: String(repointedUsers) };
}
