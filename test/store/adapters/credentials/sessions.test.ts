import { expect, test } from '@jest/globals';
import { describeEachDatabase } from '../../../support/databases.js';
import { signOnRig } from '../sign-on/rig.js';
import { newHash, newSession } from '../sign-on/samples.js';

describeEachDatabase('a session', (under) => {
  test('is known by the hash of its cookie, past its limits too', async () => {
    const { now, run, rows } = await signOnRig(under);
    const session = newSession(now, { expiresAt: now - 1 });
    await run(({ sessions }) => sessions.insert(session));
    await expect(rows.sessions.findByToken(session.tokenHash)).resolves.toEqual(session);
    await expect(rows.sessions.findByToken(session.id)).resolves.toBeUndefined();
  });

  test('gets a new cookie at a sign-in, and the old one is invalid', async () => {
    const { now, run, rows, newAccount } = await signOnRig(under);
    const [anonymous, bystander] = [newSession(now), newSession(now)];
    const signedIn = {
      ...anonymous,
      tokenHash: newHash(),
      account: { id: await newAccount(), authenticatedAt: now + 1 },
      lastSeenAt: now + 2,
      expiresAt: anonymous.expiresAt + 3,
    };
    await run(async ({ sessions }) => {
      await sessions.insert(anonymous);
      await sessions.insert(bystander);
      await sessions.update(signedIn);
    });
    await expect(rows.sessions.findByToken(anonymous.tokenHash)).resolves.toBeUndefined();
    await expect(rows.sessions.findByToken(signedIn.tokenHash)).resolves.toEqual(signedIn);
    await expect(rows.sessions.findByToken(bystander.tokenHash)).resolves.toEqual(bystander);
  });

  test('that is seen again stays what it is, and is never seen earlier than it was', async () => {
    const { now, run, rows, newAccount } = await signOnRig(under);
    const session = newSession(now, { account: { id: await newAccount(), authenticatedAt: now } });
    const bystander = newSession(now);
    const see = (at: number) => run(({ sessions }) => sessions.noteSeen(session.id, at));
    await run(async ({ sessions }) => {
      await sessions.insert(session);
      await sessions.insert(bystander);
    });
    await see(now + 2);
    await see(now + 1);
    await expect(rows.sessions.findByToken(session.tokenHash)).resolves.toEqual({
      ...session,
      lastSeenAt: now + 2,
    });
    await expect(rows.sessions.findByToken(bystander.tokenHash)).resolves.toEqual(bystander);
  });

  test('keeps the contexts that were chosen in it until the next sign-in', async () => {
    const { now, run, rows, newAccount } = await signOnRig(under);
    const account = { id: await newAccount(), authenticatedAt: now };
    const contexts = { ins_1: { userType: 'WORKER', clientId: 'cli_1' } } as const;
    const session = newSession(now, { account });
    const bystander = newSession(now, { account });
    await run(async ({ sessions }) => {
      await sessions.insert(session);
      await sessions.insert(bystander);
      await sessions.noteContexts(session.id, { ...account, contexts });
    });
    const present = async () => (await rows.sessions.findByToken(session.tokenHash))?.account;
    await expect(present()).resolves.toEqual({ ...account, contexts });
    await expect(rows.sessions.findByToken(bystander.tokenHash)).resolves.toEqual(bystander);

    const later = { ...account, authenticatedAt: now + 1 };
    await run(({ sessions }) => sessions.update({ ...session, account: later }));
    await expect(present()).resolves.toEqual(later);
    await run(({ sessions }) => sessions.noteContexts(session.id, { ...account, contexts }));
    await expect(present()).resolves.toEqual(later);
  });

  test('that has ended does not come back when it is written once more', async () => {
    const { now, run, rows } = await signOnRig(under);
    const [ended, other] = [newSession(now), newSession(now)];
    await run(async ({ sessions }) => {
      await sessions.insert(ended);
      await sessions.insert(other);
    });
    await run(({ sessions }) => sessions.delete(ended.id));
    await run(({ sessions }) => sessions.update({ ...ended, lastSeenAt: now + 1 }));
    await run(({ sessions }) => sessions.noteSeen(ended.id, now + 1));
    await expect(rows.sessions.findByToken(ended.tokenHash)).resolves.toBeUndefined();
    await expect(rows.sessions.findByToken(other.tokenHash)).resolves.toEqual(other);
  });

  test('ends with all others of its person, and no others', async () => {
    const { now, run, rows, newAccount } = await signOnRig(under);
    const [person, neighbour] = [await newAccount(), await newAccount()];
    const of = (id: typeof person) => newSession(now, { account: { id, authenticatedAt: now } });
    const ended = [of(person), of(person)];
    const kept = [of(neighbour), newSession(now)];
    await run(async ({ sessions }) => {
      for (const session of [...ended, ...kept]) {
        await sessions.insert(session);
      }
    });
    await run(({ sessions }) => sessions.deleteOfAccount(person));
    for (const { tokenHash } of ended) {
      await expect(rows.sessions.findByToken(tokenHash)).resolves.toBeUndefined();
    }
    for (const session of kept) {
      await expect(rows.sessions.findByToken(session.tokenHash)).resolves.toEqual(session);
    }
  });

  test('ends for one that was seen later, when a person has too many; those of others stay', async () => {
    const { now, run, rows, newAccount } = await signOnRig(under);
    const [person, neighbour] = [await newAccount(), await newAccount()];
    const of = (id: typeof person, lastSeenAt: number) =>
      newSession(now, { account: { id, authenticatedAt: now }, lastSeenAt });
    const oldest = of(person, now);
    const kept = [of(person, now + 2), of(person, now + 1), of(neighbour, now)];
    await run(async ({ sessions }) => {
      for (const session of [oldest, ...kept]) {
        await sessions.insert(session);
      }
      expect(await sessions.keepNewest(person, 2)).toEqual([oldest.id]);
    });
    await expect(rows.sessions.findByToken(oldest.tokenHash)).resolves.toBeUndefined();
    for (const session of kept) {
      await expect(rows.sessions.findByToken(session.tokenHash)).resolves.toEqual(session);
    }
  });
});
