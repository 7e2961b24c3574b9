import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { childEnvironments } from '../../../src/cli/supervisor/child-environments.js';
import { placeForTemporal } from '../../../src/cli/supervisor/temporal-of-demo.js';
import { loadConfig } from '../../../src/config/config.js';
import { freePorts } from '../../support/free-ports.js';

async function demoOf(uiPort: number | undefined) {
  const config = loadConfig({ ENVIRONMENT: 'demo', TEMPORAL_UI_PORT: String(uiPort) }, { strict: true });
  return { config, place: await placeForTemporal(config) };
}

test('the UI of Temporal is at the port of the settings, or at another one if that is taken', async () => {
  const [free, taken, claimed] = await freePorts(3);
  expect((await demoOf(free)).place.uiPort).toBe(free);
  const server = createServer().listen(taken, '127.0.0.1');
  const claim = createSocket('udp4').bind(claimed, '127.0.0.1');
  await Promise.all([once(server, 'listening'), once(claim, 'listening')]);
  const { config, place } = await demoOf(taken);
  const other = await demoOf(claimed);
  server.close();
  claim.close();
  expect(place.uiPort).not.toBe(taken);
  expect(other.place.uiPort).not.toBe(claimed);
  for (const role of ['edge', 'domain', 'worker'] as const) {
    expect(childEnvironments(config, {}, place)(role)).toMatchObject({
      TEMPORAL_ADDRESS: place.address,
      TEMPORAL_UI_URL: `http://localhost:${place.uiPort}`,
    });
  }
});

test('two demos do not choose the same ports, though the server of neither has started', async () => {
  const [uiPort] = await freePorts(1);
  const places = [(await demoOf(uiPort)).place, (await demoOf(uiPort)).place];
  expect(new Set(places.map(({ address }) => address)).size).toBe(2);
  expect(new Set(places.map((place) => place.uiPort)).size).toBe(2);
});
