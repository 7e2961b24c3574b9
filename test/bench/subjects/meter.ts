import { readFileSync } from 'node:fs';
import { type Cost, costOf } from '../harness/comparison.js';
import { residents } from './memory.js';
import type { StartedProcess } from './started-process.js';

const TICKS_PER_SECOND = 100;
const BYTES_PER_MEGABYTE = 1_000_000;
const MILLION = 1_000_000;
/** Of the fields after the name, which is in brackets and may contain spaces. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** The outcome of work, and what the processes of a service took for a million of what it did. */
export async function metered<Outcome>(
  service: StartedProcess,
  work: () => Promise<Outcome>,
  countOf: (outcome: Outcome) => number,
): Promise<{ outcome: Outcome; cost: Cost }> {
  const before = await takenBy(service.pid);
  const outcome = await work();
  const after = await takenBy(service.pid);
  const count = countOf(outcome);
  return { outcome, cost: costOf((part) => ((after[part] - before[part]) * MILLION) / count) };
}

/** Since the start of each role; available on Linux only. */
async function takenBy(supervisor: number): Promise<Cost> {
  const taken = costOf(() => 0);
  for (const { pid, parentPid, command } of await residents()) {
    const [, role] = /main\.js (edge|domain|worker)\b/.exec(command) ?? [];
    if (role && parentPid === supervisor) {
      taken[role as 'edge'] += processorSeconds(pid);
      taken.written += writtenMegabytes(pid);
    }
  }
  return taken;
}

function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) / TICKS_PER_SECOND;
}

function writtenMegabytes(pid: number): number {
  const [, bytes] = /^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8')) ?? [];
  return Number(bytes) / BYTES_PER_MEGABYTE;
}
