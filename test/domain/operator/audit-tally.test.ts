import { describe, expect, test } from '@jest/globals';
import { type Observation, STRANGER } from '../../../src/domain/operator/audit.js';
import { AuditTally, type TallyLimits } from '../../../src/domain/operator/audit-tally.js';
import { ErrorCode, OutcomeUnknown } from '../../../src/errors/service-error.js';
import { fakeClock } from '../clock.js';

function refusal(id: string, remoteAddress?: string): Observation {
  return {
    type: 'api_key.refused',
    outcome: 'refused',
    actor: { type: 'api_key', id, remoteAddress },
    subject: null,
    attributes: { reason: 'revoked' },
  };
}

function strangerFrom(remoteAddress: string): Observation {
  return { ...refusal(''), actor: { ...STRANGER, remoteAddress } };
}

function read(requestId: string): Observation {
  return {
    type: 'personal_data.read',
    outcome: 'succeeded',
    actor: { type: 'service_token', id: 'tok_1', requestId },
    subject: { type: 'user', id: 'usr_1' },
    attributes: { method: 'GetUser' },
  };
}

/** A tally, and a log that takes what it writes unless it is down. */
function tallying(limits?: TallyLimits) {
  const clock = fakeClock();
  const written: Observation[] = [];
  const log = { isDown: false, isLate: false };
  const write = async (observations: readonly Observation[]) => {
    if (log.isDown) {
      throw new Error('The database is away.');
    }
    written.push(...observations);
    if (log.isLate) {
      throw new OutcomeUnknown(ErrorCode.UNAVAILABLE, 'It may be written.');
    }
  };
  const tally = new AuditTally({ write }, clock.now, limits);
  return { tally, clock, written, log };
}

describe('what was observed', () => {
  test('is nothing before the flush, then one record with count and times for all that is alike', async () => {
    const { tally, clock, written } = tallying();
    const firstAt = new Date(clock.now()).toISOString();
    tally.observe(refusal('key_1', '192.0.2.1'));
    clock.advance(5_000);
    tally.observe(refusal('key_1', '192.0.2.1'));
    tally.observe(refusal('key_2', '192.0.2.1'));
    expect(written).toEqual([]);
    await tally.flush();
    const lastAt = new Date(clock.now()).toISOString();
    expect(written.map(({ actor, attributes }) => [actor.id, attributes])).toEqual([
      ['key_1', { reason: 'revoked', count: '2', first_at: firstAt, last_at: lastAt }],
      ['key_2', { reason: 'revoked', count: '1', first_at: lastAt, last_at: lastAt }],
    ]);
    await tally.flush();
    expect(written).toHaveLength(2);
  });

  test('is counted together for one network of IPv6, whose holder can use any address in it', async () => {
    const { tally, written } = tallying();
    for (const end of ['1', '2', 'ffff']) {
      tally.observe(strangerFrom(`2001:db8::${end}`));
    }
    tally.observe(strangerFrom('2001:db8:1::1'));
    await tally.flush();
    expect(written.map(({ attributes }) => attributes.count)).toEqual(['3', '1']);
  });

  test('leaves one known party ten records of a type, and all others theirs', async () => {
    const { tally, written } = tallying();
    for (let network = 0; network < 200; network += 1) {
      tally.observe(refusal('key_1', `2001:db8:${network.toString(16)}::1`));
    }
    tally.observe(refusal('key_2', '192.0.2.1'));
    await tally.flush();
    expect(written.filter(({ actor }) => actor.id === 'key_1')).toHaveLength(10);
    expect(written.filter(({ actor }) => actor.id === 'key_2')).toHaveLength(1);
    expect(written.find(({ type }) => type === 'audit.rest')?.attributes).toMatchObject({
      'api_key.refused': '190',
    });
  });

  test.each(['account', 'application'])(
    'leaves all of type %s together a quarter of the records',
    async (type) => {
      const { tally, written } = tallying();
      for (let index = 0; index < 200; index += 1) {
        tally.observe({ ...refusal(`id_${index}`, '192.0.2.1'), actor: { type, id: `id_${index}` } });
      }
      tally.observe(refusal('key_1', '192.0.2.1'));
      await tally.flush();
      expect(written.filter(({ actor }) => actor.type === type)).toHaveLength(25);
      expect(written.filter(({ actor }) => actor.id === 'key_1')).toHaveLength(1);
    },
  );

  test('leaves a stranger with ever new addresses half of the records and one for the rest, and half of these to a type', async () => {
    const { tally, written } = tallying();
    for (const type of ['sign_in', 'api_key.refused'] as const) {
      for (let index = 0; index < 5_000; index += 1) {
        tally.observe({ ...strangerFrom(`198.18.${index >> 8}.${index & 255}`), type });
      }
    }
    tally.observe(refusal('key_1', '192.0.2.1'));
    await tally.flush();
    const ofStrangers = written.filter(({ actor }) => actor.type === STRANGER.type);
    for (const type of ['sign_in', 'api_key.refused']) {
      expect(ofStrangers.filter((each) => each.type === type)).toHaveLength(25);
    }
    expect(written).toHaveLength(52);
    expect(written.filter(({ actor }) => actor.id === 'key_1')).toHaveLength(1);
    expect(written.at(-1)).toMatchObject({
      type: 'audit.rest',
      attributes: { sign_in: '4975', 'api_key.refused': '4975', count: '9950' },
    });
  });

  test('of known parties is a hundred records at most, and one for the rest', async () => {
    const { tally, written } = tallying();
    for (let index = 0; index < 150; index += 1) {
      tally.observe(refusal(`key_${index}`));
    }
    await tally.flush();
    expect(written).toHaveLength(101);
    expect(written.at(-1)?.attributes).toMatchObject({ 'api_key.refused': '50' });
  });

  test('holds no text that a stranger made longer, unprintable or no address', async () => {
    const { tally, written } = tallying();
    const long = `\u0000\u001b[2J${'x'.repeat(10_000)}`;
    tally.observe({
      ...refusal(long, long),
      subject: { type: 'method', id: long },
      attributes: { reason: long },
    });
    tally.observe(refusal('key_1', 'fe80::1%<script>'));
    await tally.flush();
    const [{ actor, subject, attributes }, scoped] = written as [Observation, Observation];
    expect(actor.remoteAddress).toBeUndefined();
    expect(scoped.actor.remoteAddress).toBeUndefined();
    for (const text of [actor.id, subject?.id, attributes.reason]) {
      expect(text).toMatch(/^\?\?\[2Jx{123}$/);
    }
  });

  test('is not written again if the log may have stored it', async () => {
    const { tally, written, log } = tallying();
    tally.observe(refusal('key_1'));
    log.isLate = true;
    await expect(tally.flush()).rejects.toThrow('It may be written.');
    log.isLate = false;
    await tally.flush();
    expect(written.map(({ attributes }) => attributes.count)).toEqual(['1']);
  });

  test('stays counted while the log cannot be written', async () => {
    const { tally, clock, written, log } = tallying({
      observations: 1,
      ofStrangers: 1,
      ofOneParty: 10,
      reads: 1,
    });
    const firstAt = new Date(clock.now()).toISOString();
    tally.observe(refusal('key_1'));
    tally.observe(refusal('key_2'));
    log.isDown = true;
    await expect(tally.flush()).rejects.toThrow('The database is away.');
    clock.advance(60_000);
    tally.observe(refusal('key_1'));
    tally.observe(refusal('key_3'));
    log.isDown = false;
    await tally.flush();
    const times = { count: '2', first_at: firstAt, last_at: new Date(clock.now()).toISOString() };
    expect(written.map(({ type, attributes }) => [type, attributes])).toEqual([
      ['api_key.refused', { reason: 'revoked', ...times }],
      ['audit.rest', { 'api_key.refused': '2', ...times }],
    ]);
  });
});

describe('a read', () => {
  test('is recorded before it is answered, and its repetitions are counted', async () => {
    const { tally, written } = tallying();
    await tally.audit(read('request-1'));
    expect(written).toEqual([read('request-1')]);
    await tally.audit(read('request-2'));
    await tally.audit(read('request-3'));
    expect(written).toHaveLength(1);
    await tally.flush();
    expect(written.slice(1)).toMatchObject([{ type: 'personal_data.read', attributes: { count: '2' } }]);
    await tally.audit(read('request-4'));
    expect(written.at(-1)).toEqual(read('request-4'));
  });

  test('is refused when it cannot be recorded, also to who waits for the same record', async () => {
    const { tally, written, log } = tallying();
    log.isDown = true;
    const both = await Promise.allSettled([tally.audit(read('request-1')), tally.audit(read('request-2'))]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    log.isDown = false;
    await tally.audit(read('request-3'));
    expect(written).toEqual([read('request-3')]);
  });

  test('is recorded separately when more different ones occur than are remembered', async () => {
    const { tally, written } = tallying({ observations: 1, ofStrangers: 1, ofOneParty: 10, reads: 0 });
    await tally.audit(read('request-1'));
    await tally.audit(read('request-2'));
    expect(written).toHaveLength(2);
  });
});
