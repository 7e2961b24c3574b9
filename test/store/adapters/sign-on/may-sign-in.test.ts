import { expect, test } from '@jest/globals';
import type { AccountId, ClientId } from '../../../../generated/ids.js';
import type { UserStatus } from '../../../../src/domain/directory/names.js';
import { createApplication } from '../../../../src/domain/operator/applications.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { validIn } from '../../../../src/store/copies/valid-list.js';
import type { Database } from '../../../../src/store/database.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { plantClient, plantUser, plantWorker } from '../../directory-rows.js';
import { CREATED_AT } from '../../rows.js';
import { OPERATOR } from '../operator/rig.js';
import { signOnRig } from './rig.js';

const USERS: Record<UserStatus, boolean> = { ACTIVE: true, INVITED: true, INACTIVE: false, DELETED: false };

type Plant = (
  database: Database,
  own: { account_id: AccountId; client_id: ClientId },
) => Promise<{ id: string }>;

const MEMBERS: [what: string, isAdmitted: boolean, plant: Plant][] = [
  ...Object.entries(USERS).map(([status, isAdmitted]): (typeof MEMBERS)[number] => [
    `a user who is ${status}`,
    isAdmitted,
    (database, own) => plantUser(database, { ...own, status: status as UserStatus }),
  ]),
  ['a worker', true, plantWorker],
  [
    'a worker who is offboarded',
    false,
    (database, own) => plantWorker(database, { ...own, offboarded_at: CREATED_AT }),
  ],
];

describeEachDatabase('whether a person may sign in', (under) => {
  test.each(MEMBERS)(
    'is the same for the sign-in, the page after a new password, the platform and a backup: %s',
    async (_, isAdmitted, plant) => {
      const { database, clock, rows, run, newAccount } = await signOnRig(under);
      const accountId = await newAccount();
      const { id: clientId, instanceId } = await plantClient(database);
      const operator = operatorUnitOfWork({ ...database, clock: clock.now });
      await inNameOf(OPERATOR, operator).run((changes) =>
        createApplication(changes, 'demo', {
          ...{ name: 'Rota', type: 'confidential', firstParty: true },
          redirectUris: [{ uri: 'https://rota.example.com/', instanceId }],
        }),
      );
      const { id } = await plant(database, { account_id: accountId, client_id: clientId });
      const contexts = (await rows.identities.find(accountId, instanceId))?.contexts;
      const ofPlatform = await run(({ accounts }) => accounts.contextsOf(accountId));
      const { members } = await validIn(database.reader, clock.now());
      expect({
        signIn: contexts?.map(({ memberId }) => memberId),
        entrances: await rows.applications.entrancesOf(accountId, 5),
        platform: ofPlatform.filter(({ enabled }) => enabled).map(({ member }) => member.id),
        backup: members,
      }).toEqual({
        signIn: isAdmitted ? [id] : [],
        entrances: isAdmitted ? [{ applicationId: expect.any(String), instanceId }] : [],
        platform: isAdmitted ? [id] : [],
        backup: isAdmitted ? [id] : [],
      });
    },
  );
});
