import { randomBytes } from 'node:crypto';
import type { Config } from '../../config/config.js';
import { createLog } from '../../telemetry/log.js';
import { welcome } from '../demo/welcome.js';
import { doubtfulNames, logOptionsOf } from '../from-config.js';
import { releaseMemoryAtRest } from '../memory-at-rest.js';
import { presenceOf, startOpsOnPort } from '../ports.js';
import { ROLE_NAMES, type RoleName } from '../roles/role.js';
import { allRoleRights, hashedToken, type RoleRight, roleRights } from '../roles/role-tokens.js';
import { claimRunDir } from '../sockets.js';
import { drained, listenForStop } from '../stop-signals.js';
import { Child, KILL_MARGIN_MS, type Refusal } from './child.js';
import { untilEarlierRolesEnd } from './earlier-roles.js';
import { opsOfChildren } from './ops-of-children.js';

/** Runs all roles as children of this process: keeps them running, and ends them in order. */
export async function serve(config: Config, environment: NodeJS.ProcessEnv): Promise<void> {
  const log = createLog({ role: 'serve', ...logOptionsOf(config) });
  for (const problem of doubtfulNames(config, environment)) {
    log.warn('a variable looks like a misspelt setting', { problem });
  }
  const { asked, hurried } = listenForStop();
  const say = sayer(config);
  const runDir = claimRunDir(config);
  const ending = new AbortController();
  void asked.then(() => ending.abort());
  await untilEarlierRolesEnd(runDir, config.SHUTDOWN_GRACE + KILL_MARGIN_MS, log, ending.signal);
  if (ending.signal.aborted) {
    process.exit(0);
  }
  const runsTemporal = config.ENVIRONMENT === 'demo' && config.TEMPORAL_ADDRESS === undefined;
  const demo = runsTemporal ? await import('./temporal-of-demo.js') : undefined;
  const temporalAddress = await demo?.freeTemporalAddress();
  let cannotStart: (refusal: Refusal) => void = () => undefined;
  const refused = new Promise<Refusal>((resolve) => {
    cannotStart = resolve;
  });
  const shared = {
    runDir,
    graceMs: config.SHUTDOWN_GRACE,
    silenceLimitMs: config.ROLE_SILENCE_LIMIT,
    log,
    onCannotStart: cannotStart,
  };
  const environmentOf = childEnvironments(config, environment, temporalAddress);
  const children = ROLE_NAMES.map((role) => new Child({ role, environment: environmentOf(role), ...shared }));
  const ops = await startOpsOnPort(config, opsOfChildren(children, presenceOf(config, 'livez')));
  for (const child of children) {
    child.start();
  }
  const temporal =
    demo && temporalAddress ? demo.startTemporalOfDemo(config, temporalAddress, log, say) : undefined;
  void Promise.all(children.map((child) => child.ready)).then(() => {
    welcome(config, say, temporal?.isUp() === false);
    log.info('serving', { environment: config.ENVIRONMENT });
    releaseMemoryAtRest();
  });

  const refusal = await Promise.race([asked.then(() => undefined), refused]);
  for (const child of children) {
    child.expectToEnd();
    child.drain();
  }
  if (refusal === undefined) {
    await drained(config, log, hurried);
  }
  // Edge first, so that nothing new comes in; the domain last, because the others need it to finish.
  for (const child of children.toReversed()) {
    await child.stop();
  }
  await temporal?.stop();
  ops.close();
  if (refusal !== undefined) {
    process.stderr.write(`${refusal.sentence}\n`);
  }
  process.exit(refusal?.exitCode ?? 0);
}

/** Text for people, in a demo or with pretty log lines. With JSON log lines, all of stdout is JSON. */
function sayer({ ENVIRONMENT, LOG_FORMAT }: Config): (line: string) => void {
  const isForPeople = ENVIRONMENT === 'demo' || LOG_FORMAT === 'pretty';
  const stream = LOG_FORMAT === 'pretty' ? process.stdout : process.stderr;
  // A disk or reader that refuses the text does not end the service.
  stream.on('error', () => undefined);
  return (line) => void (isForPeople && stream.write(`${line}\n`));
}

/**
 * Each child gets only the tokens that it sends; the domain gets the hash of each. Where a setting names a
 * token file, they get its path instead, the domain too. In a demo without TEMPORAL_ADDRESS, all get the
 * address of the Temporal server that this process starts.
 */
function childEnvironments(
  config: Config,
  environment: NodeJS.ProcessEnv,
  temporalAddress: string | undefined,
): (role: RoleName) => NodeJS.ProcessEnv {
  const tokens = new Map(allRoleRights.map((right) => [right, tokensOf(config, right)]));
  const uiUrl = config.TEMPORAL_UI_URL ?? `http://localhost:${config.TEMPORAL_UI_PORT}`;
  return (role) => {
    const settings = allRoleRights.flatMap((right) => {
      const { setting: name, sender } = roleRights[right];
      const isConcerned = role === 'domain' || sender === role;
      const file = (isConcerned && config[`${name}_FILE`]) || '';
      // The child reads the file itself, and again when it changes.
      if (config[`${name}_FILE`] !== undefined) {
        return [
          [name, ''],
          [`${name}_FILE`, file],
        ];
      }
      const held = tokens.get(right) ?? [];
      const shown = role === 'domain' ? held.map(hashedToken) : isConcerned ? held : [];
      return [[name, shown.join(',')]];
    });
    return {
      ...environment,
      ...Object.fromEntries(settings),
      ...(temporalAddress && { TEMPORAL_ADDRESS: temporalAddress, TEMPORAL_UI_URL: uiUrl }),
    };
  };
}

/** New at each start unless they are set, so that only children of this process know them. */
function tokensOf(config: Config, right: RoleRight): string[] {
  const given = config[roleRights[right].setting]?.map((token) => token.reveal());
  return given ?? [`${right}_${config.ENVIRONMENT}_${randomBytes(32).toString('hex')}`];
}
