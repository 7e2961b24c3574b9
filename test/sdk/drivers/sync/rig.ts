import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect } from '@jest/globals';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { byTypeAndId, type ChangingGateway, type Copied, changingGateways } from '../changing-gateway.js';
import type { Driven, LineDriver } from '../line-driver.js';
import { entitiesIn } from './store-file.js';

const IIN = 'iin_1';
/** Longer than any test. */
export const LONG_SECONDS = 1_000;
export const CHANGES = /\/changes(\?|$)/;

/** What a program says of a sync that has ended. */
export interface Report {
  /** Only of a copy in memory. */
  entities: (Copied & { json: string })[] | null;
  differences: object[];
  /** Failures by their names, and comparisons that proved nothing. */
  errors: string[];
  failure: { name: string } | null;
}

/** A program that keeps a copy, and a gateway with changes made by the test. Call it in a describe block. */
export function syncRig(driver: Driven) {
  const newGateway = changingGateways();
  const newDirectory = temporaryDirectories(afterAll);
  let gateway: ChangingGateway;
  let path: string;
  const programs: LineDriver[] = [];

  beforeEach(async () => {
    gateway = await newGateway();
    path = join(newDirectory(), 'copy.sqlite');
    gateway.addClient('cli_1');
    for (const id of ['wrk_1', 'wrk_2', 'wrk_3']) {
      gateway.set('worker', id);
    }
  });

  afterEach(async () => {
    await Promise.all(programs.splice(0).map((program) => program.end()));
  });

  const options = () => ({ baseUrl: gateway.url, retry: { maxRetries: 1, baseDelaySeconds: 0.001 } });
  const begin = (
    method: 'start' | 'startCatchUp' | 'catchUp',
    store: string,
    more: object = {},
    program: LineDriver = driver.sdk,
  ) =>
    program.sync(method, options(), [IIN], {
      store: store === 'sqlite' ? path : store,
      pauseSeconds: 0.01,
      ...more,
    });
  const told = ({ value, error }: Awaited<ReturnType<LineDriver['sync']>>): Report => {
    expect(error).toBeUndefined();
    return value;
  };
  return {
    get gateway(): ChangingGateway {
      return gateway;
    },
    /** Of the copy in sqlite. */
    path: () => path,
    useEmptyGateway: async () => {
      gateway = await newGateway();
    },
    another: () => {
      const program = driver.another();
      programs.push(program);
      return program;
    },
    begin,
    start: (store: string, more: object = {}) => begin('start', store, more),
    catchUp: async (store: string, more: object = {}, program: LineDriver = driver.sdk) =>
      told(await begin('catchUp', store, { waitSeconds: 0, ...more }, program)),
    stop: async () => {
      const ended = driver.sdk.sync('stop');
      gateway.stopHolding();
      return told(await ended);
    },
    ended: async () => told(await driver.sdk.sync('ended')),
    copied: (store: string, { entities }: Report): Copied[] =>
      store === 'sqlite'
        ? entitiesIn(path)
        : (entities ?? [])
            .map(({ type, id, clientId, version, json }) => ({
              ...{ type, id, clientId, version },
              resource: JSON.parse(json),
            }))
            .sort(byTypeAndId),
    /** How often the sequence was read from its beginning. */
    beginnings: () =>
      gateway.asked.filter((asked) => CHANGES.test(asked) && !asked.includes('after=')).length,
    /** Takes longer than a sync that does not wait takes for its next request. */
    readOften: async (before: () => Promise<unknown> = async () => undefined) => {
      for (let reads = 0; reads < 5; reads += 1) {
        await before();
        await driver.sdk.gateway(options(), 'listClients', [IIN]);
      }
    },
  };
}
