import type { Store } from '../../store/store.js';
import type { Check, CheckResult } from '../../telemetry/health.js';

/**
 * How long a result is cached: a check writes, and any client may request checks at any rate. A write that is
 * refused meanwhile counts at once.
 */
const RESULT_COUNTS_MS = 1_000;

/** Checks whether the domain can read and write, and whether it knows the schema. */
export function storeChecks(store: Pick<Store, 'ping' | 'assertWritesTaken' | 'schemaDrift'>): Check[] {
  const drift = shared(() => store.schemaDrift());
  const pinged = shared(() => store.ping());
  return [
    {
      name: 'database',
      required: true,
      probe: async () => {
        await pinged();
        store.assertWritesTaken();
        return { ok: true };
      },
    },
    {
      name: 'schema',
      required: true,
      probe: async () => {
        const { missing, required } = await drift();
        return missing.length > 0
          ? without(missing, 'The database lacks migrations of this version')
          : without(required, 'The database needs a newer version; update this node');
      },
    },
    {
      // Nodes are updated one by one, so nodes of the earlier version continue to serve.
      name: 'version',
      required: false,
      probe: async () =>
        without((await drift()).newer, 'A newer version has migrated the database; update this node'),
    },
  ];
}

function without(names: readonly string[], sentence: string): CheckResult {
  return names.length === 0 ? { ok: true } : { ok: false, detail: `${sentence}: ${names.join(', ')}.` };
}

/** Shares one run among concurrent callers, and caches its result for a short time. */
function shared<T>(run: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let settledAt: number | undefined;
  return () => {
    if (!latest || (settledAt !== undefined && performance.now() - settledAt > RESULT_COUNTS_MS)) {
      settledAt = undefined;
      latest = run().finally(() => {
        settledAt = performance.now();
      });
    }
    return latest;
  };
}
