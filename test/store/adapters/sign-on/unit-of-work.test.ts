import { expect, test } from '@jest/globals';
import { auditRows } from '../../../../src/store/adapters/operator/audit-events.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { signalled } from '../../../support/signalled.js';
import { signOnRig } from './rig.js';
import { newHash, newInteraction, newSession } from './samples.js';

const SUBJECT = { type: 'account', id: 'acc_1' };

describeEachDatabase('a step of signing in', (under) => {
  test('is done whole or not at all', async () => {
    const { run, rows, now, newAccount, database } = await signOnRig(under);
    const accountId = await newAccount();
    const [session, interaction] = [newSession(now), newInteraction(now)];
    const failing = run(async (changes) => {
      await changes.sessions.insert(session);
      await changes.interactions.finish(interaction);
      await changes.passwords.set(accountId, 'hash', now);
      await changes.audit(SUBJECT, { type: 'sign_in', subject: SUBJECT });
      throw new Error('the last part failed');
    });
    await expect(failing).rejects.toThrow('the last part failed');
    await expect(rows.sessions.findByToken(session.tokenHash)).resolves.toBeUndefined();
    await expect(rows.interactions.isFinished(interaction.id)).resolves.toBe(false);
    await expect(rows.passwords.find(accountId)).resolves.toBeUndefined();
    await expect(database.reader.selectFrom('audit_events').selectAll().execute()).resolves.toEqual([]);
  });

  test('is invisible before it is done', async () => {
    const { run, rows, now } = await signOnRig(under);
    const session = newSession(now);
    const [written, goOn] = [signalled(), signalled()];
    const step = run(async ({ sessions }) => {
      await sessions.insert(session);
      written.tell();
      await goOn.told;
      return sessions.findByToken(session.tokenHash);
    });
    await written.told;
    await expect(rows.sessions.findByToken(session.tokenHash)).resolves.toBeUndefined();
    goOn.tell();
    await expect(step).resolves.toEqual(session);
    await expect(rows.sessions.findByToken(session.tokenHash)).resolves.toEqual(session);
  });

  test('tells the audit log how it ended, with its own time', async () => {
    const { run, now, database } = await signOnRig(under);
    const actor = { type: 'application', id: 'app_1', requestId: 'request-1', remoteAddress: '192.0.2.9' };
    const attributes = { reason: 'credentials' };
    await run((changes) =>
      changes.audit(actor, { type: 'sign_in', subject: SUBJECT, outcome: 'refused', attributes }),
    );
    await run((changes) => changes.audit(SUBJECT, { type: 'sign_out', subject: SUBJECT }));
    const page = { after: undefined, limit: 10 };
    const refused = await auditRows(database.reader).page(page, { types: [], outcome: 'refused' });
    expect(refused).toEqual([
      {
        id: expect.stringMatching(/^aud_/),
        createdAt: now,
        type: 'sign_in',
        outcome: 'refused',
        actor: { type: 'application', id: 'app_1' },
        subject: SUBJECT,
        requestId: 'request-1',
        remoteAddress: '192.0.2.9',
        attributes,
      },
    ]);
    const succeeded = await auditRows(database.reader).page(page, { types: [], outcome: 'succeeded' });
    expect(succeeded).toMatchObject([{ type: 'sign_out', requestId: null, remoteAddress: null }]);
  });

  test('shares what the platform may do with its own writes', async () => {
    const { database, rows, now, newAccount } = await signOnRig(under);
    const accountId = await newAccount();
    const session = newSession(now, { account: { id: accountId, authenticatedAt: now } });
    await platformUnitOfWork({ ...database, clock: () => now }).run(async (changes) => {
      await changes.passwords.set(accountId, newHash(), now);
      await changes.sessions.insert(session);
      await changes.sessions.deleteOfAccount(accountId);
      await changes.audit(SUBJECT, { type: 'password.set', subject: SUBJECT });
    });
    await expect(rows.passwords.find(accountId)).resolves.toMatchObject({ setAt: now });
    await expect(rows.sessions.findByToken(session.tokenHash)).resolves.toBeUndefined();
  });
});
