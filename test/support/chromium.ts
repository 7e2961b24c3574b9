import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, expect } from '@jest/globals';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { temporaryDirectories } from './temporary-directory.js';

/** Our list takes the place of Playwright's, so it begins with what of that matters on one machine. */
const DISABLED_FEATURES = [
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  // For each window Chromium starts two renderers of its address bar and a spare one, which no test uses.
  'SpareRendererForSitePerProcess',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
];

const FLAGS = [
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // This machine is all the network there is, so that a page which needs another looks broken here too.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];

const OWN_HOSTS = ['localhost', '127.0.0.1'];
/** A little less than the limit of a test. */
const PATIENCE_MS = 150_000;
/** Chromium's own message about our pages of refusals. */
const SAYS_STATUS_OF_PAGE = /^Failed to load resource: the server responded with a status of (?:400|429)\b/;

/** A browser of one person, with its own cookies, which records every fault. */
export class Visit {
  /** What the console says, and who was asked besides this machine. Must be empty in the end. */
  readonly complaints: string[] = [];

  constructor(
    readonly context: BrowserContext,
    readonly page: Page,
  ) {
    this.#watch(page);
    context.on('page', (other) => this.#watch(other));
    context.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (protocol !== 'data:' && !OWN_HOSTS.includes(hostname)) {
        this.complaints.push(`asked ${request.url()}`);
      }
    });
  }

  newTab(): Promise<Page> {
    return this.context.newPage();
  }

  #watch(page: Page): void {
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      const text = message.text();
      // Warnings too: browsers report refused styles, frames and forms in either way.
      if (['error', 'warning'].includes(message.type()) && !SAYS_STATUS_OF_PAGE.test(text)) {
        this.complaints.push(text);
      }
    });
  }
}

/** One for all files of the worker, because a launch takes as long as several tests. */
let ofThisWorker: Promise<Browser> | undefined;

function browserOfThisWorker(executablePath: string): Promise<Browser> {
  ofThisWorker ??= launched(executablePath).catch((error) => {
    ofThisWorker = undefined;
    throw error;
  });
  return ofThisWorker;
}

async function launched(executablePath: string): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath,
    args: FLAGS,
    // Back is then as quick, and as forgetful, as it is for people.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
  browser.once('disconnected', () => {
    ofThisWorker = undefined;
  });
  // The worker does not wait for Chromium: Playwright kills it at the end; it ends with a killed worker.
  const { process } = (browser as unknown as WithProcess)._connection.toImpl(browser).options.browserProcess;
  for (const held of [process, ...(process.stdio as (Socket | null)[])]) {
    held?.unref();
  }
  return browser;
}

/** What Playwright says of the process only where it starts a server. */
interface WithProcess {
  _connection: { toImpl(browser: Browser): { options: { browserProcess: { process: ChildProcess } } } };
}

/** Chromium for a describe block. After each test it closes what was opened and checks for faults. */
export function chromiumVisits(executablePath: string) {
  const newDirectory = temporaryDirectories(afterAll);
  const open: Visit[] = [];
  let lasting: Visit | undefined;
  afterEach(async () => {
    const visits = open.splice(0);
    await Promise.all(visits.map(({ context }) => context.close()));
    const all = lasting ? [...visits, lasting] : visits;
    expect(all.flatMap(({ complaints }) => complaints.splice(0))).toEqual([]);
  });
  afterAll(() => lasting?.context.close());
  const newContext = async (options: BrowserContextOptions): Promise<BrowserContext> =>
    (await browserOfThisWorker(executablePath)).newContext(options);
  const watched = async (context: BrowserContext): Promise<Visit> => {
    const visit = new Visit(context, await context.newPage());
    open.push(visit);
    return visit;
  };
  return {
    visit: async (options: BrowserContextOptions = {}): Promise<Visit> => watched(await newContext(options)),
    /** One for all tests: a new context takes longer than a page. */
    lastingVisit: async (options: BrowserContextOptions = {}): Promise<Visit> => {
      if (!lasting) {
        const context = await newContext(options);
        lasting = new Visit(context, await context.newPage());
      }
      return lasting;
    },
    /** In another Chromium, with all cookies blocked. */
    visitWithoutCookies: async (): Promise<Visit> => {
      const profile = newDirectory();
      const settings = { profile: { default_content_setting_values: { cookies: 2 } } };
      mkdirSync(join(profile, 'Default'));
      writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(settings));
      return watched(await chromium.launchPersistentContext(profile, { executablePath, args: FLAGS }));
    },
  };
}
