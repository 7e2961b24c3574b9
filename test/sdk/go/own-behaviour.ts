import { beforeAll, describe, expect, test } from '@jest/globals';
import { describeEndedExchange } from '../drivers/exchange.js';
import type { Driven } from '../drivers/line-driver.js';
import { json, problem, type ScriptedServer, scriptedServers, silence } from '../drivers/scripted-server.js';
import { flow, grant, signOnRig } from '../drivers/sign-on-rig.js';

/** What only Go has: limits of a given HTTP client, durations that 0 leaves out, goroutines that end. */
export function describeOwnBehaviour(driver: Driven): void {
  describeEndedExchange(driver);
  const rig = signOnRig(driver);

  test.each(['panic', 'exit'])(
    'a read of the keys that ends by %s is an error of its exchange, and the next one reads them again',
    async (keysEnd) => {
      rig.serves(json({ ...grant, access_token: 'access-1', id_token: await rig.idToken() }));
      const parameters = { callbackUrl: rig.callback(), ...flow };
      const { value } = await driver.sdk.signOn(rig.options({ keysEnd }), 'exchangeInTurn', parameters);
      expect(value).toEqual(['ValueError', null]);
    },
  );

  test('printed or logged, neither tokens nor clients show a secret', async () => {
    const id_token = await rig.idToken();
    rig.serves(json({ ...grant, access_token: 'access-1', id_token }));
    const parameters = { callbackUrl: rig.callback(), ...flow };
    const { value: signedIn } = await driver.sdk.signOn(rig.options(), 'printed', parameters);
    const { value: gateway } = await driver.sdk.gateway({ baseUrl: rig.server.url }, 'printed');
    for (const said of [...signedIn, ...gateway]) {
      for (const secret of ['access-1', 'refresh-2', id_token, 'cs_1', 'ik_demo_key']) {
        expect(said).not.toContain(secret);
      }
    }
    expect(signedIn).toContain(`sdk.SignOn ${rig.server.url}`);
    expect(gateway).toContain(`sdk.Gateway ${rig.server.url}`);
  });

  const newServer = scriptedServers();
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await newServer();
  });
  const listClients = (options: object) =>
    driver.sdk.gateway({ baseUrl: server.url, ...options }, 'listClients', ['iin_1']);

  test('a negative duration of a Retry is none, as 0 is the usual one', async () => {
    const retry = { maxRetryAfterSeconds: -1 };
    server.answers(problem(429, 'rate_limited', { 'retry-after': '0' }), json([]));
    expect(await listClients({ retry })).toMatchObject({ value: [] });
    server.answers(problem(429, 'rate_limited', { 'retry-after': '1' }), json([]));
    expect(await listClients({ retry })).toMatchObject({ error: { name: 'ApiError' } });
  });

  describe('the time limit of a given HTTP client', () => {
    test('does not end the pause for which an answer asks', async () => {
      server.answers(problem(429, 'rate_limited', { 'retry-after': '6' }), json([]));
      // Longer than a busy machine takes for each answer, and shorter than the pause.
      const { value } = await listClients({ httpTimeoutSeconds: 5, timeoutSeconds: 60 });
      expect(value).toEqual([]);
      expect(server.asked).toHaveLength(2);
    });

    test('ends the retries of a refresh as early as another limit', async () => {
      rig.server.answers(json({ error: 'temporarily_unavailable' }, { 'retry-after': '30' }, 503));
      const settings = rig.options({ httpTimeoutSeconds: 30 });
      const { error } = await driver.sdk.signOn(settings, 'refresh', { refreshToken: 'refresh-1' });
      expect(error).toMatchObject({ status: 503 });
      expect(rig.server.asked).toHaveLength(1);
    });

    test('limits the wait for one answer, unless another limit is given', async () => {
      server.answers(silence);
      const { error } = await listClients({ httpTimeoutSeconds: 0.5 });
      expect(error).toMatchObject({ name: 'TimeoutError', message: expect.stringContaining('within 500ms') });
    });
  });
}
