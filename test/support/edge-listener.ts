import type { AddressInfo } from 'node:net';
import type { Dispatch } from '../../src/edge/http/exchange.js';
import { closeListener, createListener, type ListenerOptions, listen } from '../../src/edge/http/listener.js';

type Options = Pick<ListenerOptions, 'api' | 'log'> & Partial<ListenerOptions>;

/** A listener of the edge at a free port. What answers is made last: its links may need the address. */
export async function startListener(
  options: Options,
  dispatchAt: (url: string) => Dispatch | Promise<Dispatch>,
) {
  let dispatch: Dispatch | undefined;
  const listener = createListener({
    trustedProxies: [],
    timer: () => undefined,
    ...options,
    dispatch: (request) => (dispatch as Dispatch)(request),
  });
  await listen(listener, 0, '127.0.0.1');
  const { port } = listener.address() as AddressInfo;
  dispatch = await dispatchAt(`http://127.0.0.1:${port}`);
  return { listener, port, stop: () => closeListener(listener, 0) };
}
