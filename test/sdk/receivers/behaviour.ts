import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RunningProgram } from '../../guides/running-program.js';
import { freePorts } from '../../support/free-ports.js';
import { oldSecret, secret, strange } from '../drivers/signed-requests.js';
import { type Answer, type Delivery, delivery, post, postLarge, SECRETS } from './requests.js';

/**
 * As on the page; with a `store` that fails; with something before the route that reads the body; as on the
 * page, but started without a secret.
 */
export type Variant = 'shown' | 'failing' | 'read before' | 'without a secret';

export interface Launch {
  command: readonly string[];
  cwd: string;
  env?: Record<string, string>;
  /** What it says when it takes requests. */
  ready: string;
  path?: string;
  /** Where the same program has these variants at other paths. */
  variants?: Readonly<Record<OtherVariant, string>>;
}

type OtherVariant = 'failing' | 'read before';

export interface Framework {
  /** Installs what the programs need. */
  install?(): Promise<void>;
  launch(variant: Variant, port: number): Promise<Launch> | Launch;
  /** Whether a body that has no length reaches the application at all: WSGI servers drop it. */
  takesChunks?: boolean;
  /** Whether it checks secrets at the start: Next.js loads routes where it has none, in its build. */
  checksSecrets?: boolean;
  /** What the sentence advises where the body was read before. */
  advice: RegExp;
}

export interface Receiver {
  program: RunningProgram;
  url: string;
  post(delivery: Delivery): Promise<Answer>;
  /** Of the same program. */
  others?: Record<OtherVariant, Receiver>;
}

const INSTALL_LIMIT_MS = 300_000;
const LARGE = 4 * 2 ** 20 + 1;
/** As the largest event, and less than Django takes unless it is told otherwise. */
const LARGEST_EVENT = 1.5 * 2 ** 20;

type Launches = (port: number) => Promise<Launch> | Launch;

export async function startReceiver(launch: Launches, secrets = SECRETS): Promise<Receiver> {
  const [port = 0] = await freePorts(1);
  const { command, cwd, env = {}, ready, path = '/events', variants } = await launch(port);
  const program = new RunningProgram({
    executable: 'sh',
    args: ['-c', 'exec "$@" 2>&1', 'sh', ...command],
    cwd,
    env: { ...env, WEBHOOK_SECRETS: secrets, PORT: String(port) },
  });
  await program.says(ready).catch(async (error: Error) => {
    await program.stop();
    throw error;
  });
  const at = (place: string): Receiver => {
    const url = `http://127.0.0.1:${port}${place}`;
    return { program, url, post: (sent) => post(url, sent) };
  };
  const others = variants && { failing: at(variants.failing), 'read before': at(variants['read before']) };
  return { ...at(path), ...(others && { others }) };
}

/** What a program says that ends instead of taking requests. */
export async function saidAtStart(launch: Launches, secrets?: string): Promise<string> {
  try {
    const { program } = await startReceiver(launch, secrets);
    await program.stop();
    return 'It takes requests.';
  } catch (error) {
    return (error as Error).message;
  }
}

/** Gives the receiver that is as on the page. */
export function describeReceiver(framework: Framework): () => Receiver {
  const receivers = new Map<Variant, Receiver>();
  const receiver = (variant: Variant = 'shown') => receivers.get(variant) as Receiver;

  beforeAll(async () => {
    await framework.install?.();
    const start = (variant: Variant) => startReceiver((port) => framework.launch(variant, port));
    const shown = await start('shown');
    receivers.set('shown', shown);
    for (const variant of ['failing', 'read before'] as const) {
      receivers.set(variant, shown.others?.[variant] ?? (await start(variant)));
    }
  }, INSTALL_LIMIT_MS);
  afterAll(() => Promise.all([...receivers.values()].map(({ program }) => program.stop())));

  describe('answers 204', () => {
    test('to an event, whose bytes it kept, and says when the same one comes again', async () => {
      const sent = delivery();
      expect(await receiver().post(sent)).toEqual({ status: 204, text: '' });
      const { headers } = delivery({ id: sent.headers['webhook-id'] as string, ageSeconds: 1 });
      expect(await receiver().post({ ...sent, headers })).toEqual({ status: 204, text: '' });
      expect(await receiver().program.says('client.created again')).toMatch(/client\.created again/);
    });

    test('to an event of a type that this release does not know', async () => {
      const sent = delivery({ type: 'worker.promoted' });
      expect((await receiver().post(sent)).status).toBe(204);
      expect(await receiver().program.says('worker.promoted')).toMatch(/worker\.promoted/);
    });

    test.each(['client.created', 'worker.promoted'])(
      'to a test event, %s, and stores nothing',
      async (type) => {
        expect((await receiver().post(delivery({ type, isTest: true }))).status).toBe(204);
        expect(await receiver().program.says(`${type}, a test`)).toContain(`${type}, a test`);
      },
    );

    test.each([
      ['the old one', [oldSecret]],
      ['the new one', [secret]],
      ['both', [secret, oldSecret]],
    ])('while a secret is being replaced, to what is signed with %s', async (_, secrets) => {
      expect((await receiver().post(delivery({ secrets }))).status).toBe(204);
    });
  });

  describe('answers 400, with the reason,', () => {
    // Made when they are sent: to install the frameworks may take longer than a timestamp is good for.
    const changed = (change: (body: string) => string) => () => {
      const { body, headers } = delivery();
      return { body: change(body), headers };
    };
    const unsigned = () => {
      const { 'webhook-signature': _, ...headers } = delivery().headers;
      return { body: '{}', headers };
    };

    test.each<[string, () => Delivery, string]>([
      ['to a strange signature', () => delivery({ secrets: [strange] }), 'signature_mismatch'],
      ['to a changed body', changed((body) => `${body} `), 'signature_mismatch'],
      [
        'to a body that was serialized again',
        changed((body) => JSON.stringify(JSON.parse(body))),
        'signature_mismatch',
      ],
      ['to an old request', () => delivery({ ageSeconds: 301 }), 'timestamp_too_old'],
      ['to a request without a signature', unsigned, 'header_missing'],
      ['to nothing at all', () => ({ body: '', headers: {} }), 'header_missing'],
    ])('%s', async (_, make, reason) => {
      const answer = await receiver().post(make());
      expect(answer).toMatchObject({ status: 400, text: expect.stringMatching(`^${reason}: .+`) });
    });
  });

  test('takes the largest event', async () => {
    expect((await receiver().post(delivery({ paddingBytes: LARGEST_EVENT }))).status).toBe(204);
  });

  describe('answers 413', () => {
    test('to a body that is longer than the limit', async () => {
      expect((await postLarge(receiver().url, LARGE, true)).status).toBe(413);
      expect((await receiver().post(delivery())).status).toBe(204);
    });

    const withChunks = framework.takesChunks === false ? test.skip : test;
    withChunks('to one that does not say its length', async () => {
      expect((await postLarge(receiver().url, LARGE, false)).status).toBe(413);
    });
  });

  describe('answers 500, so that the service sends the event again,', () => {
    test('where storing fails, and the log says why', async () => {
      expect((await receiver('failing').post(delivery())).status).toBe(500);
      expect(await receiver('failing').program.says('The database is away.')).toMatch(
        /The database is away\./,
      );
    });

    test('where the body was read before, and the log says what to do', async () => {
      expect((await receiver('read before').post(delivery())).status).toBe(500);
      const said = await receiver('read before').program.says('could verify its bytes');
      expect(said).toMatch(/body was read before .* could verify its bytes/);
      expect(said).toMatch(framework.advice);
    });
  });

  const ofSecrets = framework.checksSecrets === false ? test.skip : test;
  ofSecrets('does not start without a secret, and says why', async () => {
    const said = await saidAtStart((port) => framework.launch('without a secret', port), '');
    expect(said).toMatch(/webhook secret is `?whsec_`? and base64/);
  });

  return receiver;
}
