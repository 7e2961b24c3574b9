import { readFileSync, rmSync } from 'node:fs';
import { pause } from '../../../workflows/backoff.js';
import type { Config } from '../../config/config.js';
import { createLog, type Log } from '../../telemetry/log.js';
import { welcome } from '../demo/welcome.js';
import { doubtfulNames, logOptionsOf, refuseUnusableFiles } from '../from-config.js';
import { releaseMemoryAtRest } from '../memory-at-rest.js';
import { presenceOf, startOpsOnPort } from '../ports.js';
import { ROLE_NAMES } from '../roles/role.js';
import { allRoleRights, refuseTokenOfServe } from '../roles/role-tokens.js';
import { claimRunDir, isListening, opsSocketOf, temporalGroupFileOf } from '../sockets.js';
import { drained, listenForStop } from '../stop-signals.js';
import { Child, KILL_MARGIN_MS, type Refusal } from './child.js';
import { childEnvironments } from './child-environments.js';
import { opsOfChildren } from './ops-of-children.js';

/** The pause between two checks for processes of a killed supervisor. */
const LOOK_EVERY_MS = 100;

/** Runs all roles as children of this process: keeps them running, and ends them in order. */
export async function serve(config: Config, environment: NodeJS.ProcessEnv): Promise<void> {
  const log = createLog({ role: 'serve', ...logOptionsOf(config) });
  for (const problem of doubtfulNames(config, environment)) {
    log.warn('a variable looks like a misspelt setting', { problem });
  }
  // Before anything is made or started: the domain would refuse these files only after other roles run.
  refuseUnusableFiles(config);
  for (const right of allRoleRights) {
    refuseTokenOfServe(config, right);
  }
  const { asked, hurried } = listenForStop();
  const say = sayer(config);
  const runDir = claimRunDir(config);
  const ending = new AbortController();
  void asked.then(() => ending.abort());
  await untilEarlierProcessesEnd(runDir, config.SHUTDOWN_GRACE + KILL_MARGIN_MS, log, ending.signal);
  if (ending.signal.aborted) {
    process.exit(0);
  }
  // Later, another group may have its number.
  rmSync(temporalGroupFileOf(runDir), { force: true });
  const runsTemporal = config.ENVIRONMENT === 'demo' && config.TEMPORAL_ADDRESS === undefined;
  const demo = runsTemporal ? await import('./temporal-of-demo.js') : undefined;
  const placeOfTemporal = await demo?.placeForTemporal(config);
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
  const environmentOf = childEnvironments(config, environment, placeOfTemporal);
  const children = ROLE_NAMES.map((role) => new Child({ role, environment: environmentOf(role), ...shared }));
  const ops = await startOpsOnPort(config, opsOfChildren(children, presenceOf(config, 'livez')));
  for (const child of children) {
    child.start();
  }
  const temporal =
    demo && placeOfTemporal ? demo.startTemporalOfDemo(config, placeOfTemporal, log, say) : undefined;
  void Promise.all(children.map((child) => child.ready)).then(() => {
    welcome(config, say, temporal?.isUp() === false);
    log.info('serving', { environment: config.ENVIRONMENT });
    releaseMemoryAtRest();
  });

  const refusal = await Promise.race([asked.then(() => undefined), refused]);
  if (refusal !== undefined) {
    process.stderr.write(`${refusal.sentence}\n`);
  }
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
  process.exit(refusal?.exitCode ?? 0);
}

/**
 * Waits for the roles of a killed supervisor that had become ready, and for its Temporal server. The roles
 * finish their calls first, and until then hold ports and locks; at their end each removes its socket, which
 * could be that of its successor. The server holds its ports and its database.
 */
async function untilEarlierProcessesEnd(
  runDir: string,
  limitMs: number,
  log: Log,
  ending: AbortSignal,
): Promise<void> {
  const endsAt = performance.now() + limitMs;
  for (let looks = 0; isTemporalRunning(runDir) || (await doesAnyListen(runDir)); looks += 1) {
    if (ending.aborted) {
      return;
    }
    if (performance.now() > endsAt) {
      log.warn('starting beside processes of an earlier supervisor', { limitMs });
      return;
    }
    if (looks === 0) {
      log.warn('waiting for the processes of an earlier supervisor to end', { limitMs });
    }
    await pause(LOOK_EVERY_MS, ending);
  }
}

async function doesAnyListen(runDir: string): Promise<boolean> {
  const answers = await Promise.all(
    ROLE_NAMES.map((role) => isListening({ path: opsSocketOf(runDir, role) })),
  );
  return answers.includes(true);
}

function isTemporalRunning(runDir: string): boolean {
  try {
    return process.kill(-Number.parseInt(readFileSync(temporalGroupFileOf(runDir), 'utf8'), 10), 0);
  } catch {
    return false;
  }
}

/** Text for people, in a demo or with pretty log lines. With JSON log lines, all of stdout is JSON. */
function sayer({ ENVIRONMENT, LOG_FORMAT }: Config): (line: string) => void {
  const isForPeople = ENVIRONMENT === 'demo' || LOG_FORMAT === 'pretty';
  const stream = LOG_FORMAT === 'pretty' ? process.stdout : process.stderr;
  // A disk or reader that refuses this text, or the reason of a refused start, does not end the service.
  for (const each of [stream, process.stderr]) {
    each.on('error', () => undefined);
  }
  return (line) => void (isForPeople && stream.write(`${line}\n`));
}
