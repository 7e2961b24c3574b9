import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { compiledScript } from '../../support/compiled-script.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../../support/eventually.js';
import { freePorts } from '../../support/free-ports.js';
import { rpcRigs, TOKENS } from '../rig.js';
import { textService } from '../short-calls/text-service.js';

const CHILD = join(import.meta.dirname, '../short-calls/text-server.child.ts');
const SOME_ANSWERS = 300;
/** Few, so that the answer to a health check does not wait long behind them on a busy machine. */
const MOST_UNDER_WAY = 200;
/** Ten seconds: on a busy machine, a server that was not struck may be silent for longer than in service. */
const SILENT_AFTER_TURNS = 40;

/** A server in a process of its own, which can be started again. */
interface Process {
  address: string;
  child: ChildProcess;
  start(): Promise<void>;
  /** What it has begun, in order. */
  begun(): string[];
}

/** Reads and writes without end, each with its number, and what became of them. */
class Load {
  readonly made: string[] = [];
  readonly answered = new Set<string>();
  readonly failed: string[] = [];
  readonly wrong: string[] = [];
  isOver = false;

  constructor(private readonly call: (method: 'ask' | 'change', text: string) => Promise<string>) {}

  async run(): Promise<void> {
    const underWay: Promise<void>[] = [];
    while (!this.isOver) {
      await pause(5);
      if (this.#underWay > MOST_UNDER_WAY) {
        continue;
      }
      for (const method of ['ask', 'change', 'ask', 'change'] as const) {
        const text = `${method} ${this.made.length}`;
        this.made.push(text);
        underWay.push(this.#note(text, this.call(method, text)));
      }
    }
    await Promise.all(underWay);
  }

  /** So many more answers, from now on. */
  async more(): Promise<void> {
    const { size } = this.answered;
    await eventually('more answers', () => this.answered.size > size + SOME_ANSWERS);
  }

  get #underWay(): number {
    return this.made.length - this.answered.size - this.failed.length - this.wrong.length;
  }

  get failedReads(): string[] {
    return this.failed.filter((text) => text.startsWith('ask'));
  }

  async #note(text: string, call: Promise<string>): Promise<void> {
    try {
      const answer = await call;
      if (answer === `${text}!`) {
        this.answered.add(text);
      } else {
        this.wrong.push(`${text} was answered by ${answer}`);
      }
    } catch (error) {
      if (error instanceof ServiceError && error.code === ErrorCode.UNAVAILABLE) {
        this.failed.push(text);
      } else {
        this.wrong.push(`${text} failed with ${error}`);
      }
    }
  }
}

describe('under load, of several servers', () => {
  const children: ChildProcess[] = [];
  const loads: Load[] = [];
  afterEach(async () => {
    for (const load of loads.splice(0)) {
      load.isOver = true;
    }
    for (const child of children.splice(0)) {
      const ended = child.exitCode ?? child.signalCode ?? once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  });
  // Registered after the hook above, so that the processes end before their directories are removed.
  const rigs = rpcRigs();

  async function serverAt(address: string): Promise<Process> {
    const record = join(rigs.directory(), 'begun');
    const start = async () => {
      server.child = fork(compiledScript(CHILD), [address, record, TOKENS.edge], { execArgv: [] });
      children.push(server.child);
      await once(server.child, 'message');
    };
    const begun = () => readFileSync(record, 'utf8').trim().split('\n');
    const server: Process = { address, child: undefined as never, start, begun };
    await start();
    return server;
  }

  async function loaded(count: number) {
    const ports = await freePorts(count);
    const servers = await Promise.all(ports.map((port) => serverAt(`127.0.0.1:${port}`)));
    const addresses = servers.map(({ address }) => address).join();
    const channel = rigs.channelTo(addresses, TOKENS.edge, { silentAfterTurns: SILENT_AFTER_TURNS });
    const client = channel.clientOf(textService);
    const stateOf = ({ address }: Process) =>
      channel.reports().find((report) => report.address === address)?.state;
    const untilServing = (...some: readonly Process[]) =>
      eventually('they serve', () => some.every((server) => stateOf(server) === 'serving'));
    await untilServing(...servers);
    const options = { requestId: 'r', deadlineMs: LONGER_THAN_A_TEST_MS };
    const load = new Load((method, text) => client[method](text, options));
    loads.push(load);
    const done = load.run();
    await load.more();
    return {
      ...{ load, stateOf, untilServing },
      servers: servers as [Process, ...Process[]],
      /** Ends the load, and checks what holds in every case. */
      end: async () => {
        load.isOver = true;
        await done;
        expect(load.wrong).toEqual([]);
        expect(load.answered.size + load.failed.length).toBe(load.made.length);
        const times = new Map<string, number>();
        for (const text of servers.flatMap(({ begun }) => begun())) {
          times.set(text, (times.get(text) ?? 0) + 1);
        }
        const tooOften = [...times].filter(([text, count]) => count > (text.startsWith('ask') ? 2 : 1));
        expect(tooOften).toEqual([]);
      },
    };
  }

  test('one is killed, again and again: no read fails, and no write is done twice', async () => {
    const { load, servers, untilServing, end } = await loaded(2);
    for (const server of [...servers, ...servers]) {
      server.child.kill('SIGKILL');
      await load.more();
      await server.start();
      await untilServing(server);
      await load.more();
    }
    await end();
    expect(load.failedReads).toEqual([]);
  });

  test('one is frozen: no read fails, it gets no calls once that is known, and calls again when it thaws', async () => {
    const { load, servers, stateOf, untilServing, end } = await loaded(3);
    const [frozen] = servers;
    frozen.child.kill('SIGSTOP');
    await eventually('it is known', () => stateOf(frozen) === 'unreachable');
    const from = load.made.length;
    await load.more();
    const until = load.made.length;
    frozen.child.kill('SIGCONT');
    await untilServing(frozen);
    await eventually('it gets calls', () => {
      const begun = new Set(frozen.begun());
      return load.made.slice(until).some((text) => begun.has(text));
    });
    await end();
    expect(load.failedReads).toEqual([]);
    const meanwhile = new Set(load.made.slice(from, until));
    expect(frozen.begun().filter((text) => meanwhile.has(text))).toEqual([]);
  });

  test('each drains in turn and is started again: no call fails', async () => {
    const { load, servers, untilServing, end } = await loaded(2);
    for (const server of [...servers, ...servers]) {
      server.child.kill('SIGTERM');
      const [code] = await once(server.child, 'exit');
      expect(code).toBe(0);
      await load.more();
      await server.start();
      await untilServing(server);
      await load.more();
    }
    await end();
    expect(load.failed).toEqual([]);
  });

  test('all are killed: calls fail at once, and are answered when one is back', async () => {
    const { load, servers, end } = await loaded(2);
    for (const { child } of servers) {
      child.kill('SIGKILL');
    }
    await eventually('calls fail', () => load.failed.length > SOME_ANSWERS);
    await servers[0].start();
    await load.more();
    await end();
  });
});
