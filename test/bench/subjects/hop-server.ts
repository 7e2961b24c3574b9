import { createRpcServer } from '../../../src/rpc/server.js';
import { HOP_TOKENS, hopServices } from './hop.js';

/** Serves the two methods of the hop on the socket of the first argument, and reports its processor time. */
const silent = () => undefined;
const server = createRpcServer({
  services: hopServices(),
  authenticate: (token) => ({ caller: token === HOP_TOKENS.streams ? 'edge' : 'platform' }),
  log: { debug: silent, info: silent, warn: silent, error: silent },
  timer: silent,
  audit: { observe: silent, audit: async () => undefined },
});
await server.listen(`unix:${process.argv[2]}`);
process.on('message', () => process.send?.(process.cpuUsage()));
process.on('disconnect', () => process.exit());
process.send?.('ready');
