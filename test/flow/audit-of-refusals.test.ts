import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { PlatformServiceService } from '../../generated/proto/integration/platform/v1/platform.js';
import { demoSeed } from '../../src/domain/demo/seed.js';
import { newApiKey } from '../../src/identifiers/api-key.js';
import { newClientSecret } from '../../src/identifiers/client-secret.js';
import { newServiceToken } from '../../src/identifiers/service-token.js';
import { RpcChannel } from '../../src/rpc/client.js';
import { Sqlite } from '../../src/store/better-sqlite3.js';
import { integration } from '../cli/typed.js';
import { refusalOf } from '../rpc/rig.js';
import { exchange } from '../support/http-exchange.js';
import { roleTokens } from '../support/role-tokens.js';
import { type ServiceProcess, serviceProcesses } from '../support/service-process.js';
import { readList } from './reading.js';

const services = serviceProcesses();
const CALL = { requestId: 'request-1', deadlineMs: 20_000 };
const userId = demoSeed.clients[0]?.users[0]?.id as string;

interface Row {
  type: string;
  outcome: string;
  actor: string;
  subject: string | null;
  address: string | null;
  attributes: Record<string, string>;
}

/** What the audit log has of these types, in the order of its one chain. */
function recordsIn({ dataDir }: ServiceProcess, ...types: string[]): Row[] {
  const database = new Sqlite(join(dataDir, 'integration.db'), { readonly: true });
  try {
    const rows = database.prepare('select * from audit_events order by seq').all() as Record<
      string,
      string
    >[];
    return rows
      .filter(({ type }) => types.includes(type as string))
      .map((row) => ({
        type: row.type as string,
        outcome: row.outcome as string,
        actor: `${row.actor_type} ${row.actor_id}`,
        subject: row.subject_id ?? null,
        address: row.remote_address ?? null,
        attributes: JSON.parse(row.attributes as string),
      }));
  } finally {
    database.close();
  }
}

describe('the audit log of a running service', () => {
  test('has what was refused when the service ends, and what was read when it was read', async () => {
    const service = await services.start();
    const { grpcAddress, supportToken, platformToken, applications } = service.demo();
    const call = async <T>(token: string, use: (platform: ReturnType<typeof clientOf>) => Promise<T>) => {
      const channel = new RpcChannel(grpcAddress, token);
      try {
        return await use(clientOf(channel));
      } finally {
        channel.close();
      }
    };
    const getUser = (platform: ReturnType<typeof clientOf>) => platform.getUser({ userId }, CALL);

    await call(supportToken, getUser);
    const read = recordsIn(service, 'personal_data.read');
    expect(read).toEqual([
      {
        type: 'personal_data.read',
        outcome: 'succeeded',
        actor: expect.stringMatching(/^service_token tok_\w+$/),
        subject: userId,
        address: '127.0.0.1',
        attributes: { method: PlatformServiceService.getUser.path },
      },
    ]);
    await call(platformToken, getUser);

    await call(newServiceToken('operator', 'demo'), (platform) => refusalOf(getUser(platform)));
    await call(supportToken, (platform) => refusalOf(platform.deleteUser({ userId }, CALL)));
    const apiKey = newApiKey('demo');
    // At once: the domain writes the counts every minute, and begins new ones.
    const shown = await Promise.all([1, 2, 3].map(() => readList(service, apiKey)));
    expect(shown.map(({ status }) => status)).toEqual([401, 401, 401]);
    const { clientId } = applications.find(({ clientSecret }) => clientSecret) as { clientId: string };
    const secret = newClientSecret('demo');
    const { status } = await exchange(Number(service.settings.SIGN_ON_PORT), '/auth/introspect', {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'token=x',
    });
    expect(status).toBe(401);
    await service.stop();

    const once = { count: '1', first_at: expect.any(String), last_at: expect.any(String) };
    const stranger = { outcome: 'refused', actor: 'stranger unknown', address: '127.0.0.1' };
    const refused = recordsIn(service, 'call.refused', 'api_key.refused', 'client_secret.refused');
    expect(refused).toHaveLength(4);
    expect(refused).toEqual(
      expect.arrayContaining([
        {
          ...stranger,
          type: 'call.refused',
          subject: PlatformServiceService.getUser.path,
          attributes: { reason: 'unknown', ...once },
        },
        {
          ...stranger,
          type: 'call.refused',
          actor: read[0]?.actor,
          subject: PlatformServiceService.deleteUser.path,
          attributes: { reason: 'not_allowed', ...once },
        },
        {
          ...stranger,
          type: 'api_key.refused',
          subject: null,
          attributes: { reason: 'unknown', ...once, count: '3' },
        },
        {
          ...stranger,
          type: 'client_secret.refused',
          subject: clientId,
          attributes: { method: 'secret', reason: 'wrong', ...once },
        },
      ]),
    );
    expect(recordsIn(service, 'personal_data.read')).toEqual(read);

    const again = { command: 'domain', dataDir: service.dataDir, env: roleTokens } as const;
    const { dataDir } = await services.start(again);
    const verified = await integration(['audit', 'verify'], { ENVIRONMENT: 'demo', DATA_DIR: dataDir });
    expect([verified.code, verified.stdout]).toEqual([
      0,
      expect.stringMatching(/^The audit log is intact\./),
    ]);
  });
});

function clientOf(channel: RpcChannel) {
  return channel.clientOf(PlatformServiceService);
}
