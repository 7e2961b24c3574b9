import {
  addRedirectUri,
  removeRedirectUri,
  setApplicationEnabled,
  updateApplication,
} from '../../../../src/domain/operator/applications.js';
import { disableAccount } from '../../../../src/domain/platform/people/account-updates.js';
import { deleteUser } from '../../../../src/domain/platform/people/user-updates.js';
import { offboardWorker } from '../../../../src/domain/platform/people/worker-changes.js';
import { hired, newPlace, operate, REDIRECT_URI, type TokenRig } from '../token-rig.js';

/** Events that end a person's access while they have tokens. */
export const WITHDRAWALS: readonly {
  title: string;
  prepare?: (rig: TokenRig) => Promise<unknown>;
  withdraw: (rig: TokenRig) => Promise<unknown>;
  /** On record at the exchange of a code, if not that of the person. */
  reason?: string;
}[] = [
  {
    title: 'the account is disabled',
    withdraw: ({ issuer, accountId }) =>
      issuer.unitOfWork.run((changes) => disableAccount(changes, accountId)),
  },
  {
    title: 'the only user is deleted',
    withdraw: ({ issuer, user }) =>
      issuer.unitOfWork.run((changes) => deleteUser(changes, { userId: user.id })),
  },
  {
    title: 'the only user is disabled',
    withdraw: ({ database, user }) =>
      database.write((writer) =>
        writer.updateTable('users').set({ status: 'INACTIVE' }).where('id', '=', user.id).execute(),
      ),
  },
  {
    title: 'the user is deleted and the only worker is offboarded',
    prepare: hired,
    withdraw: async ({ issuer, database, user }) => {
      await issuer.unitOfWork.run((changes) => deleteUser(changes, { userId: user.id }));
      const { id: workerId } = await database.reader
        .selectFrom('workers')
        .select('id')
        .executeTakeFirstOrThrow();
      await issuer.unitOfWork.run((changes) => offboardWorker(changes, { workerId }));
    },
  },
  {
    title: 'the only redirect URI of the instance is removed',
    withdraw: withoutPlace,
    reason: 'redirect_uri_removed',
  },
  {
    title: 'the application is disabled',
    withdraw: (rig) => operate(rig, (changes) => setApplicationEnabled(changes, rig.application.id, false)),
    reason: 'disabled',
  },
];

/** The operator leaves the application a redirect URI of another instance only. */
export async function withoutPlace(rig: TokenRig): Promise<void> {
  const { instanceId } = await newPlace(rig.issuer);
  const [applicationId, other] = [rig.application.id, 'https://portal.example.com/other'];
  await operate(rig, async (changes) => {
    await addRedirectUri(changes, applicationId, { uri: other, instanceId });
    await removeRedirectUri(changes, { applicationId, uri: REDIRECT_URI });
  });
}

/** The operator leaves the application fewer scopes. */
export function narrowTo(rig: TokenRig, allowedScopes: string[]) {
  return operate(rig, (changes) =>
    updateApplication(changes, { applicationId: rig.application.id, allowedScopes }),
  );
}

/** The operator decides that the application must use PKCE. */
export function withPkce(rig: TokenRig) {
  return operate(rig, (changes) =>
    updateApplication(changes, { applicationId: rig.application.id, requirePkce: true }),
  );
}
