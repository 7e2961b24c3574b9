import {
  PlatformServiceService as methods,
  type PlatformServiceService,
} from '../../../../generated/proto/integration/platform/v1/platform.js';

/** The writing methods. Imports use them too. */
type Write = Exclude<
  keyof PlatformServiceService & string,
  `get${string}` | `list${string}` | 'importRecords'
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
  setPassword: ['password.set', 'account'],
  createPasswordLink: ['link.created', 'account'],
  createEmailVerificationLink: ['link.created', 'account'],
  createEmailChangeLink: ['link.created', 'account'],
  acknowledgeAccountNotices: ['account_notices.acknowledged', 'notice'],
  acknowledgeIntegrationNotices: ['integration_notices.acknowledged', 'notice'],
} as const satisfies Record<Write, readonly [type: string, subject: string]>;

type Action = (typeof ACTIONS)[Write];

const byPath = new Map(
  Object.entries(ACTIONS).map(([name, action]) => [methods[name as Write].path as string, action]),
);

export function actionOf(path: string): Action {
  const action = byPath.get(path);
  if (!action) {
    throw new Error(`No audit action is known for ${path}.`);
  }
  return action;
}

/** The subject of a write, from the request or the answer. */
export function subjectOf(kind: Action[1], request: object, answer: object): { type: string; id: string } {
  if (kind === 'notice') {
    return { type: kind, id: (request as { noticeIds: string[] }).noticeIds[0] ?? '' };
  }
  const named = (request as Record<string, unknown>)[`${kind}Id`];
  const made = (answer as Record<string, { id?: string } | undefined>)[kind]?.id;
  return { type: kind === 'unitType' ? 'unit_type' : kind, id: made ?? String(named) };
}
