import { createSecretKey, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { answersOf } from '../support/kept-programs.js';
import { pythonWithTools } from '../support/python-tools.js';
import { describeWith } from '../support/toolchains.js';
import { noContent, type RawReceiver, rawReceivers } from './raw-receivers.js';
import { body, secret, senders } from './senders.js';
import { goVerifier } from './standard-libraries/installed.js';

/** For what is built or installed where the cache is empty. */
const MAKING_MS = 300_000;
const TOO_OLD_S = 301;
const older = randomBytes(32);
const raw = rawReceivers();
const open = senders();

interface Posted {
  secret: string;
  body: Buffer;
  headers: Record<string, string>;
}

type Judge = (cases: readonly Posted[]) => Promise<string[]>;

/** What the sender really posts during a rotation. */
async function posted(): Promise<Posted> {
  const receiver = await raw.start(noContent);
  const target = {
    url: `http://127.0.0.1:${receiver.port}/`,
    signingSecrets: [secret, older].map((key) => createSecretKey(key)),
  };
  await open().attempt(target, body);
  return { secret: whsec(secret), ...requestIn(receiver) };
}

function requestIn({ requests: [request = ''] }: RawReceiver): Pick<Posted, 'body' | 'headers'> {
  const [head = '', content = ''] = request.split('\r\n\r\n');
  const headers = head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(': ') as [string, string]);
  return { body: Buffer.from(content, 'latin1'), headers: Object.fromEntries(headers) };
}

function whsec(key: Buffer): string {
  return `whsec_${key.toString('base64')}`;
}

function changedAt(content: Buffer, index: number): Buffer {
  const changed = Buffer.from(content);
  changed[index] = (changed[index] as number) ^ 1;
  return changed;
}

/** The same request, signed rightly, but so long ago. */
function signedEarlier({ headers, ...rest }: Posted, seconds: number): Posted {
  const at = new Date((Number(headers['webhook-timestamp']) - seconds) * 1_000);
  const signature = new Webhook(rest.secret).sign(String(headers['webhook-id']), at, rest.body.toString());
  const timestamp = String(at.getTime() / 1_000);
  return { ...rest, headers: { ...headers, 'webhook-timestamp': timestamp, 'webhook-signature': signature } };
}

function judging(judge: () => Judge) {
  test('takes what is sent, with the newer secret and with the older', async () => {
    const request = await posted();
    expect(await judge()([request, { ...request, secret: whsec(older) }])).toEqual(['taken', 'taken']);
  });

  test('refuses another secret, a changed byte, id or timestamp, and what is old', async () => {
    const request = await posted();
    const { headers } = request;
    const forged = [
      { ...request, secret: whsec(randomBytes(32)) },
      { ...request, body: changedAt(request.body, request.body.length - 3) },
      { ...request, headers: { ...headers, 'webhook-id': 'evt_4ZfVbQm1sT6xKc0yRw2LdK' } },
      {
        ...request,
        headers: { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 1) },
      },
      signedEarlier(request, TOO_OLD_S),
    ];
    expect(await judge()(forged)).toEqual(forged.map(() => 'refused'));
    expect(await judge()([signedEarlier(request, TOO_OLD_S - 60)])).toEqual(['taken']);
  });
}

function linesOf(cases: readonly Posted[]): string[] {
  return cases.map((posting) => JSON.stringify({ ...posting, body: posting.body.toString('base64') }));
}

describe('the library of Standard Webhooks for JavaScript', () => {
  judging(() => async (cases) => cases.map(judgedHere));
});

describeWith('python', 'the library of Standard Webhooks for Python', (python) => {
  let program: string;
  beforeAll(async () => {
    program = await pythonWithTools(python);
  }, MAKING_MS);
  const script = new URL('./standard-libraries/verify.py', import.meta.url).pathname;
  judging(() => (cases) => answersOf(program, [script], linesOf(cases)));
});

describeWith('go', 'the library of Standard Webhooks for Go', (go) => {
  let program: string;
  beforeAll(async () => {
    program = await goVerifier(go);
  }, MAKING_MS);
  judging(() => (cases) => answersOf(program, [], linesOf(cases)));
});

function judgedHere({ secret: key, body: content, headers }: Posted): string {
  try {
    new Webhook(key).verify(content, headers);
    return 'taken';
  } catch {
    return 'refused';
  }
}
