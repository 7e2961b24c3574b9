import { readFileSync } from 'node:fs';
import type { Cost } from '../harness/comparison.js';
import { residents } from './memory.js';
import type { StartedProcess } from './started-process.js';

const TICKS_PER_SECOND = 100;
const BYTES_PER_MEGABYTE = 1_000_000;
const MILLION = 1_000_000;
/** Of the fields after the name, which is in brackets and may contain spaces. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** What the processes of a service take for work that says how much it did. */
export async function metered(service: StartedProcess, work: () => Promise<number>): Promise<Cost> {
  const before = await takenBy(service.pid);
  const count = await work();
  const after = await takenBy(service.pid);
  const since = (part: keyof Cost) => ((after[part] - before[part]) * MILLION) / count;
  return {
    edge: since('edge'),
    domain: since('domain'),
    worker: since('worker'),
    supervisor: since('supervisor'),
    written: since('written'),
  };
}

/** Since the start of each process. Only Linux tells it. */
async function takenBy(supervisor: number): Promise<Cost> {
  const taken = { edge: 0, domain: 0, worker: 0, supervisor: 0, written: 0 };
  for (const { pid, parentPid, command } of await residents()) {
    if (pid === supervisor || parentPid === supervisor) {
      const [, role] = /main\.js (edge|domain|worker)\b/.exec(command) ?? [];
      taken[(role ?? 'supervisor') as 'edge'] += processorSeconds(pid);
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
