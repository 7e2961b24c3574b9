import { inspect } from 'node:util';
import { within } from './within.js';

export interface CheckResult {
  ok: boolean;
  /** For a person on call: why not, or since when. */
  detail?: string;
}

export interface Check {
  name: string;
  /** Without a required part the role is not ready; without another it does part of its work. */
  required: boolean;
  /** Instead of two seconds. */
  limitMs?: number;
  probe(): CheckResult | Promise<CheckResult>;
}

export interface Readiness {
  status: 'ready' | 'degraded' | 'unready';
  checks: Record<string, CheckResult>;
}

const PROBE_LIMIT_MS = 2_000;

/** Whether a role can do its work, checked on each request. */
export class Health {
  #draining = false;

  constructor(private readonly checks: readonly Check[]) {}

  get draining(): boolean {
    return this.#draining;
  }

  /** Makes the role unready for good: later checks of its parts do not count. */
  drain(): void {
    this.#draining = true;
  }

  async readiness(): Promise<Readiness> {
    const probed = await Promise.all(
      this.checks.map(async (check) => ({ ...check, result: await probe(check) })),
    );
    const failed = probed.filter(({ result }) => !result.ok);
    const checks = Object.fromEntries(probed.map(({ name, result }) => [name, result]));
    if (this.#draining) {
      return { status: 'unready', checks: { ...checks, shutdown: { ok: false, detail: 'draining' } } };
    }
    if (failed.some(({ required }) => required)) {
      return { status: 'unready', checks };
    }
    return { status: failed.length > 0 ? 'degraded' : 'ready', checks };
  }
}

async function probe({ limitMs = PROBE_LIMIT_MS, probe: ask }: Check): Promise<CheckResult> {
  try {
    const late = { ok: false, detail: 'no answer in time' };
    return await within(limitMs, Promise.resolve().then(ask), () => late);
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : inspect(error) };
  }
}
