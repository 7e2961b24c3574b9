import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import { expectErrorPage, expectPage } from '../refusals.js';
import { type SignOnServer, startSignOn } from '../server.js';
import { describeEnding } from './ending-suite.js';

const PATH = '/auth/password-set';

describeEnding({
  operationId: 'showPasswordSet',
  statuses: [200, 400, 405, 429, 500, 503],
  path: PATH,
  heading: 'Your password is set',
});

describe('the ways to the applications', () => {
  const [applicationId, instanceId] = [newPublicId('ApplicationId'), newPublicId('InstanceId')];
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  const ask = (entrances: string) => server.ask('showPasswordSet', `${PATH}?entrances=${entrances}`);
  const shown = async (...applications: { name: string; instanceName?: string; signInUrl?: string }[]) => {
    const named = applications.map((one) => ({ instanceName: 'Harborlight', ...one }));
    server.program({ showPasswordSet: async () => ({ applications: named }) });
    const answer = await ask(`${applicationId}.${instanceId}`);
    expectPage(answer, 200, 'Your password is set');
    return answer.body;
  };

  test('the domain is asked for the pairs of the address, without those of another shape', async () => {
    await shown({ name: 'Rota' });
    await ask(`x,${applicationId}.${instanceId},${instanceId}.${applicationId},,${applicationId}`);
    const pairs = { entrances: [{ applicationId, instanceId }] };
    expect(server.asked).toEqual(
      [1, 2].map(() => ({ method: 'showPasswordSet', request: expect.objectContaining(pairs) })),
    );
  });

  test.each(['', 'x', `${applicationId}`])('the domain is not asked for %j', async (entrances) => {
    server.program({});
    const { body } = await ask(entrances);
    expect(body).toContain('You can now sign in to your application.');
    expect(server.asked).toEqual([]);
  });

  test('each registered address is a link, with its text escaped', async () => {
    const body = await shown(
      { name: 'Rota <Planner>', signInUrl: 'https://rota.example.com/sign-in?iss=a&instance_id="b"' },
      { name: 'Payroll', signInUrl: 'https://pay.example.com/' },
    );
    expect(body).toContain('Go on to your application and sign in with it.');
    expect(body).toContain(
      '<a class="button" href="https://rota.example.com/sign-in?iss=a&amp;instance_id=&quot;b&quot;">Sign in to Rota &lt;Planner&gt;</a>',
    );
    expect(body).toContain('<a class="button quiet" href="https://pay.example.com/">Sign in to Payroll</a>');
    expect(body).not.toContain('It is also');
  });

  test('an application without an address is named', async () => {
    expect(await shown({ name: 'Rota' })).toContain('You can now sign in to <bdi>Rota</bdi>.');
    expect(await shown({ name: 'A' }, { name: 'B' }, { name: 'C' })).toContain(
      'You can now sign in to <bdi>A</bdi>, <bdi>B</bdi> and <bdi>C</bdi>.',
    );
    const rota = { name: 'Rota', signInUrl: 'https://rota.example.com/' };
    expect(await shown(rota, { name: 'Payroll' })).toContain(
      'You can also sign in to <bdi>Payroll</bdi>.</p>',
    );
    expect(await shown(rota, { name: 'A' }, { name: 'B' })).toContain(
      'You can also sign in to <bdi>A</bdi> and <bdi>B</bdi>.</p>',
    );
  });

  test.each([undefined, 'https://rota.example.com/'])(
    'as many as the domain names may not be all: with the address %s',
    async (signInUrl) => {
      const one = { name: 'Rota', ...(signInUrl !== undefined && { signInUrl }) };
      const more = 'Your application is not among them?';
      expect(await shown(one, one, one, one)).not.toContain(more);
      expect(await shown(one, one, one, one, one)).toContain(more);
    },
  );

  test('the instance is named where there are several', async () => {
    const body = await shown(
      { name: 'Rota', signInUrl: 'https://rota.example.com/1' },
      { name: 'Rota', signInUrl: 'https://rota.example.com/2', instanceName: 'Juniper' },
    );
    expect(body).toContain('>Sign in to Rota on Harborlight</a>');
    expect(body).toContain('>Sign in to Rota on Juniper</a>');
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', '//evil.example', 'https:evil'])(
    'an address that is none of the web is no link: %j',
    async (signInUrl) => {
      const body = await shown({ name: 'Rota', signInUrl });
      expect(body).not.toContain('<a ');
      expect(body).toContain('You can now sign in to <bdi>Rota');
    },
  );

  test('400: more than the page of an invitation would name', async () => {
    server.program({});
    expectErrorPage(await ask('x'.repeat(513)), 400, /./);
    expect(server.asked).toEqual([]);
  });
});
