import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { compiledScript } from '../../support/compiled-script.js';
import { eventually } from '../../support/eventually.js';
import { randomFrom } from '../../support/random-from.js';
import { rpcRigs, TOKENS } from '../rig.js';
import { CuttingProxy } from './cutting-proxy.js';
import { textService, textsAnsweredBy } from './text-service.js';

const CHILD = join(import.meta.dirname, 'text-server.child.ts');
const UNWANTED = new Error('not wanted any more');

/** What became of the calls of a storm. */
class Outcomes {
  made = 0;
  readonly answeredTexts = new Set<string>();
  cancelled = 0;
  readonly failedTexts = new Set<string>();
  /** What must never be. */
  readonly wrong: string[] = [];

  get answered(): number {
    return this.answeredTexts.size;
  }

  get failed(): number {
    return this.failedTexts.size;
  }

  get settled(): number {
    return this.answered + this.cancelled + this.failed + this.wrong.length;
  }

  async note(text: string, call: Promise<string>): Promise<void> {
    this.made += 1;
    try {
      const answer = await call;
      if (answer === `${text}!`) {
        this.answeredTexts.add(text);
      } else {
        this.wrong.push(`${text} was answered by ${answer}`);
      }
    } catch (error) {
      if (error === UNWANTED) {
        this.cancelled += 1;
      } else if (error instanceof ServiceError && error.code === ErrorCode.UNAVAILABLE) {
        this.failedTexts.add(text);
      } else {
        this.wrong.push(`${text} failed with ${error}`);
      }
    }
  }
}

function timesOf(begun: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const text of begun) {
    times.set(text, (times.get(text) ?? 0) + 1);
  }
  return times;
}

describe('in a storm of calls', () => {
  const proxies: CuttingProxy[] = [];
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) {
      proxy.close();
    }
    for (const child of children.splice(0)) {
      const ended = child.exitCode ?? child.signalCode ?? once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  });
  // Registered after the hook above, so that the processes end before their directories are removed.
  const rigs = rpcRigs();

  test.each([1, 2, 3])(
    'with delays, cancels, deadlines and cuts of seed %i, each call ends once, with its own answer or an error',
    async (seed) => {
      const random = randomFrom(seed);
      const begun: string[] = [];
      const answer = async (text: string) => {
        begun.push(text);
        const delay = random();
        if (delay > 0.3) {
          await pause(delay * 30);
        }
        return `${text}!`;
      };
      const rig = await rigs.start([textsAnsweredBy(answer)]);
      const path = join(rigs.directory(), 'p');
      const proxy = await CuttingProxy.start(path, rig.address);
      proxies.push(proxy);
      const client = rigs.channelTo(`unix:${path}`, TOKENS.edge).clientOf(textService);
      const outcomes = new Outcomes();

      const callOn = async (caller: number) => {
        for (let index = 0; index < 100; index += 1) {
          const isRead = random() < 0.5;
          const text = `${isRead ? 'ask' : 'change'} ${caller} ${index}${'.'.repeat(random() * 3_000)}`;
          const cancel = new AbortController();
          const deadlineMs = random() < 0.1 ? 1 + random() * 10 : 20_000;
          const options = { requestId: `${caller}/${index}`, deadlineMs, signal: cancel.signal };
          const call = isRead ? client.ask(text, options) : client.change(text, options);
          if (random() < 0.1) {
            setTimeout(() => cancel.abort(UNWANTED), random() * 20);
          }
          if (random() < 0.005) {
            proxy.cut();
          }
          await outcomes.note(text, call);
          if (outcomes.failedTexts.has(text)) {
            // Otherwise the callers use up all their calls while the channel waits to connect again.
            await pause(100);
          }
        }
      };
      await Promise.all(Array.from({ length: 40 }, (_, caller) => callOn(caller)));

      expect(outcomes.wrong).toEqual([]);
      expect(outcomes.settled).toBe(4_000);
      expect(proxy.connections).toBeGreaterThan(1);
      // The slower the machine reconnects after a cut, the more calls fail meanwhile.
      expect(outcomes.answered).toBeGreaterThan(500);
      expect(outcomes.cancelled).toBeGreaterThan(0);
      for (const [text, times] of timesOf(begun)) {
        expect([text, times <= (text.startsWith('ask') ? 2 : 1)]).toEqual([text, true]);
      }
      const { answered } = outcomes;
      await eventually('a call is answered afterwards', async () => {
        await outcomes.note('afterwards', client.ask('afterwards', { requestId: 'r' }));
        return outcomes.answered > answered;
      });
    },
  );

  describe('against a server in a process of its own', () => {
    /** Serves texts, and writes down each that it begins. */
    async function serverAt(socket: string, record: string): Promise<ChildProcess> {
      const child = fork(compiledScript(CHILD), [`unix:${socket}`, record, TOKENS.edge], { execArgv: [] });
      children.push(child);
      await once(child, 'message');
      return child;
    }

    /** About a thousand calls a second until `over` says so. */
    async function calling(
      client: ReturnType<ReturnType<typeof rigs.channelTo>['clientOf']>,
      outcomes: Outcomes,
      over: () => boolean,
      deadlineMs: number,
    ) {
      const texts = client as unknown as Record<
        'ask' | 'change',
        (text: string, options: object) => Promise<string>
      >;
      const underWay: Promise<void>[] = [];
      for (let index = 0; !over(); index += 1) {
        for (let one = 0; one < 10; one += 1) {
          const method = one % 2 === 0 ? 'ask' : 'change';
          const text = `${method} ${index} ${one}`;
          const options = { requestId: text.replaceAll(' ', '/'), deadlineMs };
          underWay.push(outcomes.note(text, texts[method](text, options)));
        }
        await pause(10);
      }
      await Promise.all(underWay);
    }

    interface Watch {
      failed(): number;
      begun(): string[];
    }
    type Strike = (child: ChildProcess, start: () => Promise<ChildProcess>, watch: Watch) => Promise<void>;

    async function storm(strike: Strike, deadlineMs = 1_500) {
      const directory = rigs.directory();
      const [socket, record] = [join(directory, 's'), join(directory, 'begun')];
      const start = () => serverAt(socket, record);
      const child = await start();
      const outcomes = new Outcomes();
      const client = rigs.channelTo(`unix:${socket}`, TOKENS.edge).clientOf(textService);
      let isOver = false;
      const done = calling(client as never, outcomes, () => isOver, deadlineMs);
      const begun = () => readFileSync(record, 'utf8').trim().split('\n');
      try {
        await eventually('calls are answered', () => outcomes.answered > 500);
        await strike(child, start, { failed: () => outcomes.failed, begun });
        const { answered } = outcomes;
        await eventually('calls are answered again', () => outcomes.answered > answered + 500);
      } finally {
        isOver = true;
      }
      await done;
      expect(outcomes.wrong).toEqual([]);
      expect(outcomes.settled).toBe(outcomes.made);
      for (const [text, times] of timesOf(begun())) {
        expect([text, times <= (text.startsWith('ask') ? 2 : 1)]).toEqual([text, true]);
      }
      return outcomes;
    }

    test('that is killed, calls fail or are repeated, and go on with the next server', async () => {
      const outcomes = await storm(async (child, start) => {
        child.kill('SIGKILL');
        await once(child, 'exit');
        await start();
      });
      expect(outcomes.failed).toBeGreaterThan(0);
    });

    test('that is frozen, calls end at their deadlines, most of them unsent, and go on when it thaws', async () => {
      let begunInAll: () => string[] = () => [];
      const outcomes = await storm(async (child, _, { failed, begun }) => {
        begunInAll = begun;
        child.kill('SIGSTOP');
        await eventually('calls end at their deadlines', () => failed() > 1_000);
        child.kill('SIGCONT');
      });
      const begunInVain = begunInAll().filter((text) => outcomes.failedTexts.has(text));
      expect(begunInVain.length).toBeLessThan(outcomes.failed / 2);
    });

    test('that drains, all that it has begun is answered', async () => {
      let begunByFirst: string[] = [];
      const outcomes = await storm(async (child, start, { begun }) => {
        child.kill('SIGTERM');
        const [code] = await once(child, 'exit');
        expect(code).toBe(0);
        begunByFirst = begun();
        await start();
      }, 20_000);
      expect(begunByFirst.length).toBeGreaterThan(500);
      expect(begunByFirst.filter((text) => !outcomes.answeredTexts.has(text))).toEqual([]);
    });
  });
});
