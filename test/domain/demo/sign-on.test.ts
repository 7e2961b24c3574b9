import { describe, expect, test } from '@jest/globals';
import { faultOf } from '../../../src/domain/credentials/passwords.js';
import { DEMO_PASSWORD, demoCredentials, demoSeed } from '../../../src/domain/demo/seed.js';
import { validateFields, validateRedirectUris } from '../../../src/domain/operator/application-rules.js';
import { Violations } from '../../../src/domain/platform/violations.js';
import { newClientSecret } from '../../../src/identifiers/client-secret.js';

const { applications, signIns, instances, clients } = demoSeed;

describe('the applications of the demo', () => {
  test('have the ids and kinds that examples and scripts rely on', () => {
    expect(
      applications.map(({ id, name, type, requirePkce, firstParty }) => ({
        [`${id} ${name}`]: [type, requirePkce ? 'PKCE' : '', firstParty ? 'first-party' : '']
          .join(' ')
          .trim(),
      })),
    ).toEqual([
      { 'app_fTLPnp9AQk289ZvW2sXMBk Brightledger Portal': 'confidential' },
      { 'app_1w7eeWagZtD5yR5dv2xIU0 Brightledger Mobile': 'public PKCE' },
      { 'app_EQg5XmHO85B7XKechcMAfS Shiftwise Web': 'confidential PKCE' },
      { 'app_kMBhXitgGcDkDsjvBiFRpb Harborlight Dashboard': 'confidential PKCE first-party' },
      { 'app_JRpXYXixEyu3zVKVi32u42 Tidewater Timesheets': 'confidential PKCE' },
    ]);
  });

  test.each(applications)('$name could be registered by an operator as it is', (application) => {
    const violations = new Violations();
    validateFields(violations, application.type, application);
    validateRedirectUris(violations, application.redirectUris, application.type);
    expect(() => violations.throwIfAny()).not.toThrow();
  });

  test.each(applications)('$name returns to both instances, on this machine and elsewhere', (application) => {
    const { redirectUris, postLogoutRedirectUris } = application;
    for (const { id } of instances) {
      const uris = redirectUris.flatMap(({ uri, instanceId }) => (instanceId === id ? [uri] : []));
      expect(uris.length).toBeGreaterThan(1);
      expect(uris.some((uri) => uri.startsWith('http://localhost:'))).toBe(true);
      expect(uris.some((uri) => !uri.startsWith('http:'))).toBe(true);
    }
    expect(postLogoutRedirectUris.length).toBeGreaterThan(1);
  });

  test('share no address', () => {
    const uris = applications.flatMap(({ redirectUris }) => redirectUris.map(({ uri }) => uri));
    expect(new Set(uris).size).toBe(uris.length);
  });

  test('get a secret each if they are confidential; a kept secret stays', () => {
    const [portal, mobile] = applications;
    const kept = newClientSecret('demo');
    const { clientSecrets } = demoCredentials(demoSeed, { clientSecrets: { [portal?.id as 'app_']: kept } });
    expect(Object.keys(clientSecrets)).toHaveLength(4);
    expect(clientSecrets[portal?.id as 'app_']).toBe(kept);
    expect(clientSecrets[mobile?.id as 'app_']).toBeUndefined();
    expect(new Set(Object.values(clientSecrets)).size).toBe(4);
  });
});

describe('the people of the demo', () => {
  /** What each is: status of a user or `worker`, at a client of an instance. */
  const contexts = signIns.map(({ person: { id } }) =>
    clients.flatMap(({ name, users, workers }) => [
      ...users.flatMap(({ person, status }) => (person.id === id ? [`${status} ${name}`] : [])),
      ...workers.flatMap(({ person }) => (person.id === id ? [`worker ${name}`] : [])),
    ]),
  );

  test('are one for each way in, and one for whom there is none', () => {
    expect(contexts).toEqual([
      ['ACTIVE Tallowfern Bakeries'],
      ['INVITED Tallowfern Bakeries'],
      ['INACTIVE Tallowfern Bakeries'],
      ['worker Tallowfern Bakeries'],
      ['INVITED Tallowfern Bakeries', 'worker Tallowfern Bakeries'],
      [
        'ACTIVE Tallowfern Bakeries',
        'worker Tallowfern Bakeries',
        'ACTIVE Quillmere Logistics',
        'worker Quillmere Logistics',
      ],
      [
        'ACTIVE Tallowfern Bakeries',
        'worker Tallowfern Bakeries',
        'ACTIVE Ostrander Clinics',
        'worker Ostrander Clinics',
      ],
      ['ACTIVE Ostrander Clinics'],
    ]);
  });

  test('are each another person, with a note', () => {
    expect(new Set(signIns.map(({ person }) => person.email)).size).toBe(signIns.length);
    expect(signIns.filter(({ note }) => note.trim() === '')).toEqual([]);
  });

  test.each(signIns)('$person.email could have chosen the password', ({ person }) => {
    expect(faultOf(DEMO_PASSWORD, [person.email])).toBeUndefined();
  });
});
