import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { KINDS_OF_WRITES, RandomWrites } from '../../support/changes/random-writes.js';
import { eventually } from '../../support/eventually.js';
import { randomFrom } from '../../support/random-from.js';
import { Acknowledged } from './acknowledged.js';
import type { Copy } from './copy.js';
import { type Listed, listedBy } from './gateway-lists.js';
import type { Place, Platform } from './places.js';
import type { SlowTransactions } from './slow-transactions.js';
import type { Strike } from './strikes.js';

export interface StormSettings {
  seed: number;
  writes: number;
  strikes: readonly Strike[];
  copies: readonly Copy[];
  place: Place;
  /** Only where a transaction can commit after one that began later. */
  slow?: SlowTransactions | undefined;
  progress: (step: string) => void;
}

const WRITERS = 4;
/** Between writes that a writer adds for the strikes: it leaves the processors to what starts again. */
const PAUSE_MS = 25;
/** On a machine with much else to do. */
const CATCH_UP_LIMIT_MS = 150_000;

/** Sign-in activates users, and no operation of the platform. */
export const KINDS_OF_PLATFORM = KINDS_OF_WRITES.filter((kind) => kind !== 'activateUser');

export const instanceId = demoSeed.instances[0]?.id ?? '';

/** Writes of all kinds at once, while services and mirrors are killed. */
export class MirrorStorm {
  readonly struck: Strike[] = [];
  /** The kinds of writes that were done. */
  readonly done = new Set<string>();
  refused = 0;
  readonly acknowledged = new Acknowledged();
  #begun = 0;
  readonly #left: Strike[];
  readonly #strikes = new Map<string, Promise<void>>();

  constructor(private readonly settings: StormSettings) {
    this.#left = [...settings.strikes];
  }

  /** Over when all writes are answered, all strikes made and all transactions ended. */
  async run(): Promise<void> {
    const { copies, place, slow, seed } = this.settings;
    await Promise.all(copies.map((copy) => copy.start()));
    const slowly = slow?.run(this.acknowledged);
    const writers = Array.from({ length: WRITERS }, (_, number) => {
      const random = randomFrom(seed + number + 1);
      const writes = new RandomWrites(place.database, instanceId, random, slow?.clientIds);
      return this.#write(place.platforms[number % place.platforms.length] as Platform, writes);
    });
    await Promise.all(writers).finally(() => this.acknowledged.end());
    await Promise.all([slowly, ...this.#strikes.values()]);
  }

  /** What the gateway has at the end, once the mirrors have it too or had long enough. */
  async listed(): Promise<Listed> {
    const { copies, place, progress } = this.settings;
    progress('waiting for the mirrors');
    const listed = await listedBy(place.reader);
    const expected = inOrder(listed.digests);
    const areEqual = () => copies.every((copy) => inOrder(copy.digests()) === expected);
    await eventually('equal mirrors', areEqual, CATCH_UP_LIMIT_MS).catch(() => undefined);
    return listed;
  }

  /** Writes go on for as long as there are strikes, so that there is always something to interrupt. */
  async #write(platform: Platform, writes: RandomWrites): Promise<void> {
    while (this.#begun < this.settings.writes || this.struck.length < this.settings.strikes.length) {
      this.#begin(this.#begun);
      this.#begun += 1;
      const wish = await writes.next(KINDS_OF_PLATFORM);
      if (await platform.write(wish, randomUUID())) {
        this.done.add(wish.name);
        this.acknowledged.add();
      } else {
        this.refused += 1;
      }
      if (this.#begun >= this.settings.writes) {
        await pause(PAUSE_MS);
      }
    }
  }

  /** Strikes at one target follow each other. */
  #begin(write: number): void {
    if (write % 500 === 0) {
      this.settings.progress(`${write} writes, ${this.struck.length} kills`);
    }
    while (this.#left[0] && this.#left[0].write <= write) {
      const strike = this.#left.shift() as Strike;
      const before = this.#strikes.get(strike.target) ?? Promise.resolve();
      const striking = before.then(() => this.#strike(strike));
      // The writers go on until all are made. The caller that awaits it at the end gets the error.
      striking.catch(() => this.struck.push(strike));
      this.#strikes.set(strike.target, striking);
    }
  }

  async #strike(strike: Strike): Promise<void> {
    const { copies, place } = this.settings;
    const copy = copies.find(({ language }) => language === strike.target);
    if (copy) {
      if (strike.changes !== undefined) {
        await copy.untilChanged(strike.changes);
      }
      await copy.kill();
      await copy.start();
    } else {
      await place.kills[strike.target]?.();
    }
    this.struck.push(strike);
  }
}

function inOrder(digests: Listed['digests']): string {
  return JSON.stringify(Object.entries(digests).sort(([one], [other]) => (one < other ? -1 : 1)));
}
