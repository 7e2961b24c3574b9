import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { DirectoryServiceService } from '../../generated/proto/integration/directory/v1/directory.js';
import { serve } from '../../src/rpc/handlers.js';
import { rpcRigs } from './rig.js';
import { textService, textsAnsweredBy } from './short-calls/text-service.js';

const REQUEST = { read: undefined, rest: undefined };
/** As many as a connection carries calls, twice: more than those for streams carry together. */
const STREAMS = 600;

describe('a channel', () => {
  const rigs = rpcRigs();

  test('answers short calls while more streams wait for their readers than connections carry', async () => {
    const rig = await rigs.start([
      serve(DirectoryServiceService, {
        readRest: async function* (_, { signal }) {
          yield { body: Buffer.from('first') };
          await once(signal, 'abort');
        },
      }),
      textsAnsweredBy((text) => `${text}!`),
    ]);
    const channel = rig.channel();
    const directory = channel.clientOf(DirectoryServiceService);
    const streams = Array.from({ length: STREAMS }, () =>
      directory.readRest(REQUEST, { requestId: 'long', deadlineMs: 60_000 })[Symbol.asyncIterator](),
    );
    const firsts = streams.map((stream) => stream.next().catch(() => undefined));
    await Promise.all(firsts.slice(0, 256));
    expect(await channel.clientOf(textService).ask('text', { requestId: 'short', deadlineMs: 20_000 })).toBe(
      'text!',
    );
    channel.close();
    await Promise.all(streams.map((stream) => stream.return?.()));
  });
});
