import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type Entrance,
  InteractionPage,
  PasswordProblem,
} from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { formPost, type SignOnServer, startSignOn } from '../server.js';
import { describeForm } from './form-suite.js';
import { LINK_TOKEN } from './page-suite.js';

const fields = { token: LINK_TOKEN, password: ' correct horse ' };

describeForm({
  operationId: 'setPassword',
  statuses: [303, 400, 405, 408, 413, 415, 429, 500, 503],
  path: '/auth/set-password',
  method: 'redeemPasswordLink',
  fields,
  askedWith: { linkTokenHash: hashSecret(LINK_TOKEN), password: ' correct horse ' },
  unfit: [
    ['a token of another alphabet', { token: `${LINK_TOKEN}!` }],
    ['a NUL in the password', { password: 'pass\0word' }],
  ],
});

let server: SignOnServer;

beforeAll(async () => {
  server = await startSignOn();
});

afterAll(() => server.stop());

const locationAfter = async (
  page: InteractionPage,
  { problem, entrances = [] }: { problem?: PasswordProblem; entrances?: Entrance[] } = {},
) => {
  const value = { page, interaction: '', problem, entrances };
  server.program({ redeemPasswordLink: async () => ({ step: { result: { $case: 'nextPage', value } } }) });
  return (await server.ask('setPassword', '/auth/set-password', formPost(fields))).headers.location;
};

test.each([
  [PasswordProblem.TOO_SHORT, 'too_short'],
  [PasswordProblem.TOO_LONG, 'too_long'],
  [PasswordProblem.TOO_COMMON, 'too_common'],
  [PasswordProblem.TOO_PERSONAL, 'too_personal'],
])('a password refused as %s leads back to the page of the same link', async (problem, word) => {
  const location = await locationAfter(InteractionPage.SET_PASSWORD, { problem });
  expect(location).toBe(`/auth/set-password?token=${LINK_TOKEN}&problem=${word}`);
});

test('the token of the link stays behind once the password is set', async () => {
  expect(await locationAfter(InteractionPage.PASSWORD_SET)).toBe('/auth/password-set');
});

test('the ways to the applications of the person come along', async () => {
  const [one, two] = [newPublicId('InstanceId'), newPublicId('InstanceId')];
  const applicationId = newPublicId('ApplicationId');
  const entrances = [one, two].map((instanceId) => ({ applicationId, instanceId }));
  expect(await locationAfter(InteractionPage.PASSWORD_SET, { entrances })).toBe(
    `/auth/password-set?entrances=${applicationId}.${one}%2C${applicationId}.${two}`,
  );
});

test('a password of 60,000 characters reaches the rules, which say that it is too long', async () => {
  const asked: string[] = [];
  server.program({
    redeemPasswordLink: async ({ password }) => {
      asked.push(password);
      const value = {
        page: InteractionPage.SET_PASSWORD,
        interaction: '',
        problem: PasswordProblem.TOO_LONG,
        entrances: [],
      };
      return { step: { result: { $case: 'nextPage', value } } };
    },
  });
  const password = 'x'.repeat(60_000);
  const { headers } = await server.ask(
    'setPassword',
    '/auth/set-password',
    formPost({ ...fields, password }),
  );
  expect(headers.location).toMatch(/problem=too_long$/);
  expect(asked).toEqual([password]);
});
