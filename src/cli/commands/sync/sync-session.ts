import { isLoopback } from '../../../config/insecurities.js';
import { demoFilePath, readDemoFile } from '../../demo/demo-file.js';
import { stopSignal } from '../../stop-signals.js';
import { clientConfig, secretGivenIn } from '../client-config.js';
import { Unfinished, UsageError } from '../errors.js';
import { onReaderGone, say } from '../output/print.js';
import { printableLine } from '../output/printable.js';
import { type CopyFile, faultOfFile, openCopy, refuseForeignFile } from './copy-file.js';
import { counted, entitiesOf, ReportedStore } from './reported-store.js';
import { type Connection, type Gateway, loadSdk, type Sdk, type Sync } from './sdk.js';

export interface SyncCommandOptions {
  to: string;
  gateway?: string;
  instanceIntegration?: string;
  once?: boolean;
  json?: boolean;
}

/** With `--once`: gives up after about half a minute. Without it, `run` retries without limit. */
const PATIENT = { maxRetries: 8 };
const STOPPED = 'Stopped before the copy was complete and compared. The same command goes on from there.';
/** With more clients, the progress has no total: counting takes a request for each client. */
const MOST_CLIENTS_COUNTED = 100;
const KEY_SETTINGS = 'INTEGRATION_API_KEY or INTEGRATION_API_KEY_FILE';

export async function sync(options: SyncCommandOptions): Promise<void> {
  refuseForeignFile(options.to);
  const target = gatewayTargetOf(options);
  const sdk = await loadSdk();
  const stop = stopSignal();
  onReaderGone(() => stop.abort());
  try {
    const connection = await connectionOf(gatewayAt(target, sdk), target, options, stop.signal);
    const copy = openCopy(options.to, sdk);
    try {
      await keep(copy, connection, gatewayAt(target, sdk, options.once), options, stop.signal);
    } finally {
      copy.close();
    }
  } catch (error) {
    // A signal makes a request in progress fail. While the copy follows changes, it ends without an error.
    const isStopped = stop.signal.aborted && !(error instanceof Unfinished);
    throw isStopped ? new Unfinished(STOPPED) : foreseen(error, target, options.to, sdk);
  }
}

async function keep(
  copy: CopyFile,
  { id, applicationInstance }: Connection,
  gateway: Gateway,
  options: SyncCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  const { once } = options;
  const { store, isLoading } = copy;
  const continuation = beginning(copy, options.to, `${applicationInstance.instanceName} (${id})`);
  const total = isLoading && process.stderr.isTTY ? await totalOf(gateway, id, signal) : undefined;
  const reported = new ReportedStore(store, isLoading, { ...options, continuation }, total);
  const working = gateway.sync(id, reported, {
    onDifference: (differences) => reported.differ(differences),
    onUndecided: () => {
      reported.isUndecided = true;
    },
    onError: (error) => reported.failed(error),
  });
  try {
    await (once ? finish(working, reported, signal) : working.run({ signal }));
  } finally {
    reported.end();
    if (signal.aborted && !reported.isComplete) {
      say(`Ended before the copy was complete; it has ${counted(entitiesOf(store))}.`);
    }
  }
  if (signal.aborted && !reported.isComplete) {
    throw new Unfinished('The same command goes on from there.');
  }
}

async function finish(working: Sync, reported: ReportedStore, signal: AbortSignal): Promise<void> {
  await working.catchUp({ signal });
  if (reported.differed > 1) {
    throw new Unfinished('The copy still differs, although everything was read again. Tell the operator.');
  }
  if (reported.isUndecided) {
    throw new Unfinished(
      'The copy has all that was read, but is not proven equal: its data kept changing during the comparison. Try again.',
    );
  }
  reported.complete('Counts and digests equal those of the gateway.');
}

/** Says that an empty file is loaded. Returns the words for another one, whose instance is not proven yet. */
function beginning({ store, isLoading }: CopyFile, file: string, instance: string): string | undefined {
  const entities = entitiesOf(store);
  if (isLoading && entities === 0) {
    say(printableLine(`Loading ${instance} into ${file}.`));
    return undefined;
  }
  return printableLine(`Going on with ${file}, which has ${counted(entities)} of ${instance}.`);
}

async function totalOf(gateway: Gateway, id: string, signal: AbortSignal): Promise<number | undefined> {
  const clients = await gateway.listClients(id, { signal });
  if (clients.length > MOST_CLIENTS_COUNTED) {
    return undefined;
  }
  let total = 0;
  for (const client of clients) {
    const { entities } = await gateway.getChangesDigest(id, client.id, { signal });
    total += entities.reduce((sum, { count }) => sum + count, 0);
  }
  return total;
}

function gatewayAt({ url, apiKey }: GatewayTarget, { Gateway }: Sdk, isPatient = false): Gateway {
  try {
    // Of `--gateway`, http:// beyond loopback was refused before.
    return new Gateway({
      baseUrl: url,
      apiKey,
      allowInsecureHttp: true,
      ...(isPatient && { retry: PATIENT }),
    });
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

async function connectionOf(
  gateway: Gateway,
  target: GatewayTarget,
  { instanceIntegration }: SyncCommandOptions,
  signal: AbortSignal,
): Promise<Connection> {
  const connections = await gateway.listInstanceIntegrations({ signal });
  const wanted = instanceIntegration ?? target.instanceIntegrationId;
  const [first, ...others] = connections.filter(({ id }) => wanted === undefined || id === wanted);
  if (first && others.length === 0) {
    return first;
  }
  if (connections.length === 0) {
    throw new Unfinished('The integration of this key is not connected to any instance yet.');
  }
  const list = connections.map(
    ({ id, applicationInstance }) => `\n  ${id}  ${printableLine(applicationInstance.instanceName)}`,
  );
  throw new UsageError(
    first
      ? `This key has several instance integrations. Choose one with --instance-integration:${list.join('')}`
      : `This key has no instance integration ${printableLine(wanted ?? '')}. It has:${list.join('')}`,
  );
}

/** The sentence for an error of the gateway, of the connection to it or of the file. */
function foreseen(error: unknown, { url }: GatewayTarget, file: string, sdk: Sdk): unknown {
  const fault = faultOfFile(file, error);
  if (fault !== undefined) {
    return new Unfinished(fault);
  }
  if (error instanceof sdk.ApiError) {
    return error.fields.some(({ path }) => path === 'after')
      ? new UsageError(
          `${printableLine(file)} is a copy of another instance integration. Give its own with --instance-integration, or another file.`,
        )
      : new Unfinished(`${url} refuses: ${printableLine(error.message)}`);
  }
  return error instanceof sdk.IntegrationServiceError ? new Unfinished(printableLine(error.message)) : error;
}

interface GatewayTarget {
  url: string;
  apiKey: string;
  /** The first instance integration of the demo, with the key of the demo. */
  instanceIntegrationId?: string | undefined;
}

/** Address and key as given, or both of the demo: no key goes to the gateway of another environment. */
function gatewayTargetOf({ gateway: url }: { gateway?: string }): GatewayTarget {
  // There is no option for it: lists of processes show options.
  const apiKey = secretGivenIn('INTEGRATION_API_KEY');
  if (url === undefined && apiKey === undefined) {
    return targetOfDemo();
  }
  if (url === undefined) {
    throw new UsageError(
      'An API key is given without its gateway. Give --gateway too, or none for the demo.',
    );
  }
  if (apiKey === undefined) {
    throw new UsageError(`--gateway is given without an API key. Give it in ${KEY_SETTINGS}.`);
  }
  refusePlain(url);
  return { url, apiKey };
}

function targetOfDemo(): GatewayTarget {
  const config = clientConfig();
  const demo = readDemoFile(demoFilePath(config.DATA_DIR));
  const first = demo?.apiKeys?.[0];
  if (demo?.gatewayUrl === undefined || first === undefined) {
    throw new UsageError(
      `There is no demo environment in ${config.DATA_DIR}. Start it with \`make run\`, set DATA_DIR to where it is, or give --gateway and the API key in ${KEY_SETTINGS}.`,
    );
  }
  const { key: apiKey, instanceIntegrationIds } = first;
  return { url: demo.gatewayUrl, apiKey, instanceIntegrationId: instanceIntegrationIds[0] };
}

function refusePlain(url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !isLoopback(hostname)) {
    throw new UsageError(`--gateway ${url} would send the API key unencrypted. Use https://.`);
  }
}
