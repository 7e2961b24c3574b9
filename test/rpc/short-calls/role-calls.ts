import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { CallServiceService } from '../../../generated/proto/integration/calls/v1/calls.js';
import { LONGER_THAN_A_TEST_MS } from '../../support/eventually.js';
import { type RigOptions, type RpcRig, rpcRigs, TOKENS } from '../rig.js';
import { CuttingProxy } from './cutting-proxy.js';
import { type Answering, textService, textsAnsweredBy } from './text-service.js';

export const OPTIONS = { requestId: 'r', deadlineMs: LONGER_THAN_A_TEST_MS };
export const EXCHANGE = CallServiceService.exchange.path.slice(1);
/** Of a channel, and of a stream at the server. */
export const MOST_CALLS = 1_024;
export const KIB = 1_024;

export const never = () => new Promise<string>(() => undefined);
export const aborted = (signal: AbortSignal) => once(signal, 'abort');

/** Call it in a describe block; closes what was opened after each test. */
export function roleCalls() {
  const rigs = rpcRigs();
  const proxies: CuttingProxy[] = [];
  const clients: { close(): void }[] = [];
  afterEach(() => {
    for (const one of [...proxies.splice(0), ...clients.splice(0)]) {
      one.close();
    }
  });

  async function serving(ask: Answering, options: RigOptions = {}, change = ask) {
    const rig = await rigs.start([textsAnsweredBy(ask, change)], options);
    return { ...rig, ...callsOf(rig) };
  }

  function callsOf(rig: Pick<RpcRig, 'channel'>, token = TOKENS.edge) {
    const channel = rig.channel(token);
    const client = channel.clientOf(textService);
    return {
      ask: (text: string, options = {}) => client.ask(text, { ...OPTIONS, ...options }),
      change: (text: string, options = {}) => client.change(text, { ...OPTIONS, ...options }),
      leave: () => channel.close(),
    };
  }

  /** Calls through a proxy that can cut their connection. */
  async function behindProxy(ask: Answering, change = ask) {
    const rig = await rigs.start([textsAnsweredBy(ask, change)]);
    const path = join(rigs.directory(), 'p');
    const proxy = await CuttingProxy.start(path, rig.address);
    proxies.push(proxy);
    return { ...rig, ...callsOf({ channel: (token) => rigs.channelTo(`unix:${path}`, token) }), proxy };
  }
  return { rigs, clients, serving, callsOf, behindProxy };
}
