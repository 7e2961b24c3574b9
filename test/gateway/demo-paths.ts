import type { DemoClient } from '../../src/domain/demo/directory.js';
import { type DemoIntegration, demoSeed } from '../../src/domain/demo/seed.js';

/** What a path of the gateway can name. */
export type PathIds = Record<'instanceIntegrationId' | 'clientId' | 'userId' | 'workerId', string>;

const [brightledger, shiftwise] = demoSeed.integrations as unknown as [DemoIntegration, DemoIntegration];
const [tallowfern, quillmere, ostrander] = demoSeed.clients as unknown as [
  DemoClient,
  DemoClient,
  DemoClient,
];

export const owner = brightledger;
export const largestClient = tallowfern;

/** The connection of an integration that is not set up. */
export const unconfigured = brightledger.connections.find(({ configured }) => !configured)?.id ?? '';

const idsIn = ({ connections }: DemoIntegration, client: DemoClient): PathIds => ({
  instanceIntegrationId: connections.find(({ configured }) => configured)?.id ?? '',
  clientId: client.id,
  userId: client.users[1]?.id ?? '',
  workerId: client.workers[1]?.id ?? '',
});

/** What the key of the owner reaches. */
export const ownIds = idsIn(brightledger, tallowfern);

/** The same of another integration, on another instance. */
export const foreignIds = idsIn(shiftwise, ostrander);

/** What the key reaches by another path: another client of the same instance, with its people. */
export const neighbourIds = idsIn(brightledger, quillmere);

/** Well-formed, and unknown. */
export const unknownIds: PathIds = {
  instanceIntegrationId: 'iin_0000000000000000000000',
  clientId: 'cli_0000000000000000000000',
  userId: 'usr_0000000000000000000000',
  workerId: 'wrk_0000000000000000000000',
};
