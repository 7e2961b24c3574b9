import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { PlatformServiceService } from '../../generated/proto/integration/platform/v1/platform.js';
import { RpcChannel } from '../../src/rpc/client.js';
import { AttackedService } from '../attacks/attacked-service.js';
import { busyClient, SignInFlow } from '../chaos/sign-on/sign-in-flow.js';
import { call } from '../flow/sign-on/environment.js';
import { connectionIds } from '../flow/webhooks/webhook-environment.js';
import { eventually } from '../support/eventually.js';
import { freePorts } from '../support/free-ports.js';
import { OutputLines } from '../support/output-lines.js';
import type { ServiceProcess } from '../support/service-process.js';
import { isRunning, mainFile, root } from '../support/service-process.js';
import { newTemporaryDirectory } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';
import { untilAnswered } from '../support/turned-away.js';
import { HOSTS, type HostName, hostOf, PORTS } from './addresses.js';
import { type Cluster, startCluster } from './cluster.js';

const START_LIMIT_MS = 240_000;
/** For several waits, and for the end of all parts. */
const LIMIT_MS = 180_000;
const CLIENT = 'cli_s7I6uiS7GeF9ulpYlaR5CS';
const PRESENT_USER = 'me@example.com';
const NEW_USER = 'you@example.com';
const FROM_REPLICA = 'source="replica",reason=""';
const AFTER_FAILURE = 'source="primary",reason="failure"';

async function rowsOf(connectionString: string, question: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(question)).rows;
  } finally {
    await client.end();
  }
}

describeWith('pgbouncer', 'a cluster with PgBouncer', () => {
  describeWith('prometheus', 'and Prometheus', () => {
    describeWith('haproxy', 'behind HAProxy', () => {
      let cluster: Cluster;
      let prometheusUrl: string;
      let demo: AttackedService;
      const network = `127.${randomInt(1, 255)}.${randomInt(0, 255)}`;
      const commands: ReturnType<typeof spawn>[] = [];
      const command = (...args: string[]) => {
        const { PATH, NODE_COMPILE_CACHE } = process.env;
        const env = { PATH, NODE_COMPILE_CACHE, DATA_DIR: cluster.folder };
        const child = spawn(process.execPath, [mainFile, ...args], { cwd: root, env, stdio: 'pipe' });
        commands.push(child);
        const output = new OutputLines();
        output.read(child.stdout);
        output.read(child.stderr);
        return output;
      };
      const connections = () =>
        fetch(`${cluster.demo.gatewayUrl}/v1/instance-integrations`, {
          headers: { 'x-api-key': cluster.demo.apiKeys[0]?.key ?? '' },
        });

      const users = async () => {
        const key = cluster.demo.apiKeys.find(({ instanceIntegrationIds }) =>
          instanceIntegrationIds.includes(connectionIds.harborlight),
        );
        const path = `/v1/instance-integrations/${connectionIds.harborlight}/clients/${CLIENT}/users`;
        const answer = await fetch(`${cluster.demo.gatewayUrl}${path}`, {
          headers: { 'x-api-key': key?.key ?? '' },
        });
        return { status: answer.status, body: await answer.text() };
      };
      /** The number of reads with these labels, for each domain. */
      const readsFrom = async (labels: string) => {
        const texts = await Promise.all(
          (['domain-1', 'domain-2'] as const).map(async (name) =>
            (await fetch(`http://${hostOf(network, name)}:${PORTS.metrics}/metrics`)).text(),
          ),
        );
        return texts.map((text) => {
          const line = text
            .split('\n')
            .find((one) => one.startsWith(`store_directory_reads_total{${labels},`));
          return Number(line?.split(' ').at(-1) ?? 0);
        });
      };

      beforeAll(async () => {
        const [
          signOn = 0,
          gateway = 0,
          grpc = 0,
          one = 0,
          two = 0,
          haproxy = 0,
          prometheus = 0,
          temporal = 0,
        ] = await freePorts(8);
        const ports = {
          signOn,
          gateway,
          grpc,
          demoApps: [one, two] as const,
          haproxy,
          prometheus,
          temporal,
        };
        prometheusUrl = `http://127.0.0.1:${prometheus}`;
        cluster = await startCluster({
          ...{ network, ports, folder: join(newTemporaryDirectory(), 'cluster') },
          settings: { GATEWAY_RATE_LIMIT: '999999999/1h' },
        });
        const service = { demo: () => cluster.demo, settings: { SIGN_ON_PORT: String(signOn) } };
        demo = new AttackedService(service as unknown as ServiceProcess);
        const channel = new RpcChannel(`127.0.0.1:${grpc}`, cluster.demo.platformToken);
        const user = { clientId: CLIENT, email: PRESENT_USER, withoutManager: true };
        await channel.clientOf(PlatformServiceService).createUser(user, call());
        channel.close();
      }, START_LIMIT_MS);

      afterAll(async () => {
        for (const child of commands) {
          child.kill('SIGKILL');
        }
        await cluster?.stop();
        const hosts = (Object.keys(HOSTS) as HostName[]).filter((name) => !name.startsWith('temporal'));
        const names = [...hosts, 'haproxy', 'prometheus'];
        expect(names.filter((name) => isRunning(cluster.part(name).pid))).toEqual([]);
      }, LIMIT_MS);

      test('signs people in: a code is exchanged and its token refreshed, whichever edge and domain get the requests', async () => {
        const person = demo.person('no access to Juniper');
        const { accessTokens } = await new SignInFlow(demo, busyClient, person, demo.dashboard).run();
        const answer = await untilAnswered(() => demo.userinfo(accessTokens.at(-1) ?? ''));
        expect(answer.status).toBe(200);
      });

      test(
        'sends the event of a write of the platform to a subscriber, as in the README',
        async () => {
          const listening = command('listen');
          await listening.nextText('Ctrl-C ends this');
          const user = {
            clientId: CLIENT,
            email: NEW_USER,
            withoutManager: true,
          };
          command('call', 'Platform/CreateUser', JSON.stringify(user));
          await listening.nextText('user.created');
        },
        LIMIT_MS,
      );

      test('sends statements through PgBouncer, and notifications past it', async () => {
        const stats = await rowsOf(
          cluster.pgbouncerUrl.replace(/\/integration$/, '/pgbouncer'),
          'show stats',
        );
        const ours = stats.find(({ database }) => database === 'integration');
        expect(Number(ours?.total_xact_count)).toBeGreaterThan(100);
        const past = await eventually('the connections of both domains', async () => {
          const found = await rowsOf(
            cluster.adminUrl,
            "select application_name from pg_stat_activity where usename = 'integration' and application_name like 'integration%'",
          );
          return found.length === 2 && found;
        });
        expect(past).toEqual(Array(2).fill({ application_name: 'integration notifications' }));
      });

      test('has a replica that streams, with all that was written', async () => {
        await eventually('a replica that streams', async () => {
          const [standby] = await rowsOf(cluster.adminUrl, 'select * from pg_stat_replication');
          return standby?.application_name === 'replica' && standby.state === 'streaming';
        });
        const replicaUrl = cluster.adminUrl
          .replace(hostOf(network, 'primary'), hostOf(network, 'replica'))
          .replace(/\/postgres$/, '/integration');
        await eventually('the user on the replica', async () => {
          const found = await rowsOf(replicaUrl, `select from accounts where email = '${PRESENT_USER}'`);
          return found.length === 1;
        });
      });

      test(
        'reads lists of the gateway from the replica, and goes on without it',
        async () => {
          const before = await readsFrom(FROM_REPLICA);
          await eventually('reads of both domains from the replica', async () => {
            expect(await users()).toMatchObject({ status: 200, body: expect.stringContaining(PRESENT_USER) });
            const now = await readsFrom(FROM_REPLICA);
            return now.every((reads, index) => reads > (before[index] ?? 0));
          });
          const answers: Awaited<ReturnType<typeof users>>[] = [];
          let isOver = false;
          const reader = async () => {
            while (!isOver) {
              answers.push(await users());
            }
          };
          const readers = [reader(), reader()];
          await eventually('first answers', () => answers.length > 20);
          const replica = cluster.part('replica');
          process.kill(replica.pid, 'SIGKILL');
          await replica.ended;
          await eventually('reads of both domains from the primary', async () =>
            (await readsFrom(AFTER_FAILURE)).every((reads) => reads > 10),
          );
          isOver = true;
          await Promise.all(readers);
          expect([...new Set(answers.map(({ status }) => status))]).toEqual([200]);
          expect(answers.filter(({ body }) => !body.includes(PRESENT_USER))).toEqual([]);
        },
        LIMIT_MS,
      );

      test('is read by Prometheus, role by role', async () => {
        const up = async () => {
          const answer = await fetch(`${prometheusUrl}/api/v1/query?query=up`);
          const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } };
          return data.result;
        };
        await eventually('all targets', async () => {
          const targets = await up();
          return targets.length === 7 && targets.every(({ value }) => value[1] === '1');
        });
      });

      test(
        'answers every read while a domain and an edge are killed',
        async () => {
          const answered: number[] = [];
          let isOver = false;
          const reader = async () => {
            while (!isOver) {
              answered.push((await connections()).status);
            }
          };
          const readers = [reader(), reader(), reader(), reader()];
          await eventually('first answers', () => answered.length > 20);
          for (const name of ['domain-1', 'edge-1'] as const) {
            const part = cluster.part(name);
            process.kill(part.pid, 'SIGKILL');
            await part.ended;
            const seen = answered.length;
            await eventually(`answers without ${name}`, () => answered.length > seen + 100);
          }
          await eventually('HAProxy without the edge', async () => {
            const csv = await (await fetch(`http://127.0.0.1:${cluster.ports.haproxy}/;csv`)).text();
            return /^gateway,edge-1,.*,DOWN,/m.test(csv);
          });
          isOver = true;
          await Promise.all(readers);
          expect([...new Set(answered)]).toEqual([200]);
        },
        LIMIT_MS,
      );
    });
  });
});
