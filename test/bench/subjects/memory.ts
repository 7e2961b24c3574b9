import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const BYTES_PER_KIB = 1_024;
const BYTES_PER_MB = 1_000_000;

const SAMPLE_EVERY_MS = 500;
const STILL_WITHIN = 0.01;
/** Longer than a process rests before it collects its garbage. */
const REST_MS = 25_000;
const SETTLE_LIMIT_MS = 120_000;

/** A process and what it started itself, by how `ps` shows them. */
export interface Resident {
  pid: number;
  parentPid: number;
  command: string;
  megabytes: number;
}

/** The process with its children, once none of them has grown or shrunk for this long. */
export async function settledMemory(pid: number, stillMs = REST_MS): Promise<Resident[]> {
  const samples = stillMs / SAMPLE_EVERY_MS;
  const totals: number[] = [];
  for (let waitedMs = 0; waitedMs < SETTLE_LIMIT_MS; waitedMs += SAMPLE_EVERY_MS) {
    const family = (await residents()).filter((one) => one.pid === pid || one.parentPid === pid);
    totals.push(family.reduce((sum, { megabytes }) => sum + megabytes, 0));
    const last = totals.slice(-samples);
    if (last.length === samples && Math.max(...last) <= Math.min(...last) * (1 + STILL_WITHIN)) {
      return family;
    }
    await sleep(SAMPLE_EVERY_MS);
  }
  throw new Error(`The memory of process ${pid} does not settle within ${SETTLE_LIMIT_MS} ms.`);
}

/** Of the process with its children. */
export async function settledMegabytes(pid: number, stillMs?: number): Promise<number> {
  return (await settledMemory(pid, stillMs)).reduce((sum, { megabytes }) => sum + megabytes, 0);
}

export async function residents(): Promise<Resident[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,rss=,args=']);
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parentPid, kib, command] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return command === undefined
      ? []
      : [
          {
            pid: Number(pid),
            parentPid: Number(parentPid),
            command,
            megabytes: (Number(kib) * BYTES_PER_KIB) / BYTES_PER_MB,
          },
        ];
  });
}
