import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OperatorServiceService } from '../../generated/proto/integration/operator/v1/operator.js';
import { RpcChannel } from '../../src/rpc/client.js';
import { Sqlite } from '../../src/store/better-sqlite3.js';
import { AttackedService, BEHIND_PROXY, type FreshCode } from '../attacks/attacked-service.js';
import { expectErrorPage, expectOAuthError } from '../attacks/verdicts.js';
import { eventually } from '../support/eventually.js';
import { exchange } from '../support/http-exchange.js';
import type { LogLine } from '../support/output-lines.js';
import { type Role, serviceProcesses } from '../support/service-process.js';
import { untilAnswered } from '../support/turned-away.js';
import { expectAllKnown, type Family, firstOf, refreshed, tokensIn } from './sign-on/families.js';
import { type SmallDisk, smallDisks } from './small-disks.js';

/** Together they take longer than the last checkpoint, which follows the last write that went through. */
const REFUSALS_THAT_LAST = 10;
const USES = 20;

const REFUSED = 'writes are refused';
const TAKEN = 'writes are taken again';

/** What /readyz says; without the checks of a role that answers late. */
interface Readiness {
  status: string;
  roles: Partial<Record<Role, { status: string; checks?: Record<string, { ok: boolean }> }>>;
}

const services = serviceProcesses();

for (const disk of smallDisks) {
  const title = `a service with a full disk, ${disk.title},`;
  if (disk.whyNot === undefined) {
    describe(title, () => onDisk(disk));
  } else {
    process.stderr.write(`Skipped “${title}”: ${disk.whyNot}\n`);
    describe.skip(`${title} (${disk.whyNot})`, () => onDisk(disk));
  }
}

/** Makes one sync in the domain fail when a file appears, and removes the file. */
const FAILS_ONCE = `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const { fdatasync } = fs;
  const flag = process.env.FAILING_SYNC;
  if (process.argv.includes('domain')) {
    fs.fdatasync = (descriptor, done) => {
      if (!fs.existsSync(flag)) {
        return fdatasync(descriptor, done);
      }
      fs.rmSync(flag);
      done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
    };
    syncBuiltinESMExports();
  }
`;

test('a disk that fails once: what was not synced is not acknowledged, and a new domain has all that was', async () => {
  const flag = join(services.newDirectory(), 'fail');
  const preload = `data:text/javascript,${encodeURIComponent(FAILS_ONCE)}`;
  const env = { ...BEHIND_PROXY.env, FAILING_SYNC: flag, NODE_OPTIONS: `--import=${preload}` };
  const on = new AttackedService(await services.start({ env }));
  const signIn = () => on.signIn(on.userAgent(), on.person('no access to Juniper'));
  const browser = await on.signedIn();
  const family = firstOf({ application: on.dashboard }, await on.tokens(browser, on.dashboard));
  const pid = on.service.pidOf('domain');

  writeFileSync(flag, '');
  expect((await signIn()).status).toBe(503);
  const refused = await on.service.output.nextLine(({ msg }) => msg === REFUSED);
  expect(refused).toMatchObject({ role: 'domain', pid, reason: expect.stringContaining('EIO') });
  await on.service.output.nextLine(({ msg }) => msg === 'domain is back');
  expect(on.service.pidOf('domain')).not.toBe(pid);
  await eventually('a sign-in', async () => (await signIn()).status === 303);
  await expectAllKnown(on, [family]);
  await on.service.readiness();
});

/** From now on, each use of a credential seems to be the first. */
function forgetUses(databaseFile: string): void {
  const database = new Sqlite(databaseFile, { timeout: 30_000 });
  for (const table of ['api_keys', 'application_secrets', 'service_tokens']) {
    database.exec(`update ${table} set last_used_at = null;
      create trigger forgets_${table} after update of last_used_at on ${table}
      when new.last_used_at is not null
      begin update ${table} set last_used_at = null where id = new.id; end`);
  }
  database.close();
}

function onDisk(disk: SmallDisk): void {
  let directory: string;
  let on: AttackedService;
  let pid: number;
  let code: FreshCode;
  let family: Family;

  beforeAll(async () => {
    directory = services.newDirectory();
    const dataDir = disk.make(directory);
    on = new AttackedService(await services.start({ ...BEHIND_PROXY, dataDir }));
    pid = on.service.pidOf('domain');
    const browser = await on.signedIn();
    family = firstOf({ application: on.dashboard }, await on.tokens(browser, on.dashboard));
    let other = firstOf({ application: on.dashboard }, await on.tokens(browser, on.dashboard));
    code = await on.freshCode(browser, on.dashboard);
    forgetUses(join(dataDir, 'integration.db'));
    disk.fill(on.service);
    const refresh = async () => {
      const answer = await on.refresh(other.application, other.refreshToken);
      other = answer.status === 200 ? refreshed(other, tokensIn(answer)) : other;
      return answer.status;
    };
    // Writes use up the space that the database reserved; a checkpoint may release some again.
    await eventually('nothing but refusals', async () => {
      for (let refusals = 0; refusals < REFUSALS_THAT_LAST; refusals += 1) {
        if ((await signIn()).status !== 503 || (await refresh()) !== 503) {
          return false;
        }
      }
      return true;
    });
  });
  afterAll(async () => {
    on?.service.killGroup();
    await on?.service.exited;
    disk.remove(directory);
  });

  test('answers programs and people with an error of the contract', async () => {
    expectOAuthError(await on.redeem(code), 503, 'temporarily_unavailable');
    expectOAuthError(
      await on.refresh(family.application, family.refreshToken),
      503,
      'temporarily_unavailable',
    );
    expectErrorPage(await signIn(), 503);
  });

  test('is unready, and logs the first refused write', async () => {
    // A busy domain may answer the probe so late that its parent does not learn of its checks.
    const { status, body } = await eventually('the database unready', async () => {
      const response = await fetch(`${on.service.opsUrl}/readyz`);
      const body = (await response.json()) as Readiness;
      return body.roles.domain?.checks?.database?.ok === false && { status: response.status, body };
    });
    expect(status).toBe(503);
    expect(body).toMatchObject({ status: 'unready', roles: { domain: { status: 'unready' } } });
    await on.service.output.nextLine(({ msg }) => msg === REFUSED);
    const lines = told();
    for (const line of lines.filter(({ msg }) => msg === REFUSED)) {
      expect(line).toMatchObject({ role: 'domain', level: 'error', reason: expect.any(String) });
    }
    // The domain logs a refusal only after writes that passed, as some do while a slow disk fills up.
    const inTurns = lines.map((_, index) => (index % 2 === 0 ? REFUSED : TAKEN));
    expect(lines.map(({ msg }) => msg)).toEqual(inTurns);
  });

  test('warns of uses of credentials that it cannot record, and not with each call', async () => {
    const { apiKeys, operatorToken, grpcAddress } = on.service.demo();
    const headers = { 'x-api-key': apiKeys[0]?.key };
    const channel = new RpcChannel(grpcAddress, operatorToken);
    const { listIntegrations } = channel.clientOf(OperatorServiceService);
    for (let use = 0; use < USES; use += 1) {
      await exchange(Number(on.service.settings.GATEWAY_PORT), '/v1/instance-integrations', { headers });
      await on.introspect(family.application, family.refreshToken);
      await listIntegrations({ pageSize: 1, pageToken: '' }, { requestId: 'full-disk' });
    }
    channel.close();
    await on.service.logged();
    for (const credential of ['an API key', 'a client secret', 'a service token']) {
      const text = `the last use of ${credential} was not recorded`;
      const warnings = on.service.output.lines().filter(({ msg }) => msg === text);
      expect(warnings).not.toEqual([]);
      expect(warnings.length).toBeLessThan(USES);
    }
  });

  test('continues to answer requests that write nothing', async () => {
    expect((await untilAnswered(startSignIn)).status).toBe(200);
    const userinfo = await untilAnswered(() => on.userinfo(family.accessTokens[0] ?? ''));
    expect(userinfo.status).toBe(200);
    expect(await on.introspect(family.application, family.refreshToken)).toMatchObject({ active: true });
  });

  test('and once there is room again continues with everything, in the same process, and has used up nothing', async () => {
    disk.free(on.service);
    const first = firstOf(code, tokensIn(await on.redeem(code)));
    await expectAllKnown(on, [family, first]);
    expect((await untilAnswered(signIn)).status).toBe(303);
    expect(on.service.pidOf('domain')).toBe(pid);
    await on.service.readiness();
    await eventually('the line about the end', () => told().at(-1)?.msg === TAKEN);
  });

  /** What the domain has logged of its disk. */
  function told(): LogLine[] {
    return on.service.output.lines().filter(({ msg }) => msg === REFUSED || msg === TAKEN);
  }

  function signIn() {
    return on.signIn(on.userAgent(), on.person('no access to Juniper'));
  }

  function startSignIn() {
    return on.userAgent().open(on.authorizeTarget(on.dashboard));
  }
}
