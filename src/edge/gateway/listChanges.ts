import { present } from '../../errors/service-error.js';
import { MadeJson } from '../contract/typed-handler.js';
import { beginRead, type GatewayHandler, MOST_FIRST_WAIT_MS } from './read.js';

const MS_PER_SECOND = 1_000;

/** Answers at once if there are changes, otherwise at the next change or when the wait is over. */
export const listChanges: GatewayHandler<'listChanges'> = async (request, dependencies) => {
  const { directory, news, waits, wokenReads } = dependencies;
  const { query, identity, left } = request;
  const { after, wait = 0, ...rest } = query;
  const endsAt = performance.now() + wait * MS_PER_SECOND;
  const window = { ...rest, ...(after !== undefined && { cursor: after }) };
  const { question, longCall, headersOf, linkTo } = beginRead('listChanges', request, dependencies, window);
  const read = (isCounted: boolean) =>
    directory.read({ ...question, ...(isCounted && { isCounted }) }, longCall);
  const onWait = () => request.wait(MOST_FIRST_WAIT_MS);
  const waiting = wait > 0 ? await waits.begin(identity.apiKeyHash, onWait) : undefined;
  try {
    let waited: Awaited<ReturnType<typeof news.ofInstance>> | undefined;
    let lane = '';
    for (;;) {
      // Before the read, so that no change between the two is missed.
      const heard = waiting ? await news.listen() : 0;
      // One change can wake many requests at once: integrations take turns.
      const answer = await (waited === undefined ? read(false) : wokenReads.run(lane, () => read(true)));
      const header = present(answer.header);
      waiting?.answered(header);
      lane = header.integrationId;
      const { awaitedInstanceId } = header;
      const leftMs = endsAt - performance.now();
      // A timer can end a little before its time.
      if (awaitedInstanceId !== undefined && leftMs > 0 && waited !== 'over') {
        request.wait(leftMs);
        waited = await news.ofInstance(awaitedInstanceId, heard, leftMs, left);
        if (waited !== 'ended') {
          continue;
        }
      }
      const headers = headersOf(header);
      if (header.notModified) {
        return { status: 304, headers };
      }
      const next = answer.nextCursor;
      const link = next && linkTo({ ...rest, after: next });
      return { status: 200, headers: { ...headers, ...link }, body: new MadeJson(answer.body) };
    }
  } finally {
    waiting?.end();
  }
};
