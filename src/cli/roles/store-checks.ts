import type { Store } from '../../store/store.js';
import type { Check, CheckResult } from '../../telemetry/health.js';

/** How long a result counts: a check writes, and strangers may ask as often as they like. */
const RESULT_COUNTS_MS = 1_000;

/** Whether the domain can read and write, in tables that it knows. */
export function storeChecks(store: Pick<Store, 'ping' | 'schemaDrift'>): Check[] {
  const drift = shared(() => store.schemaDrift());
  const pinged = shared(() => store.ping());
  return [
    { name: 'database', required: true, probe: () => pinged().then(() => ({ ok: true })) },
    {
      name: 'schema',
      required: true,
      probe: async () => without((await drift()).missing, 'The database lacks migrations of this version'),
    },
    {
      // Nodes are updated one after the other, so those of the earlier version continue.
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

/** Runs it once for all who ask meanwhile and shortly after. */
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
