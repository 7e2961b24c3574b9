import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import * as sdk from '@integration-service/sdk';

interface Options {
  timeoutSeconds?: number;
  pageSize?: number;
  retry?: { maxRetries?: number; baseDelaySeconds?: number; maxDelaySeconds?: number } | false;
}

/** What a test wants done. */
interface Command {
  id: number;
  on: 'Gateway' | 'SignOn' | 'webhooks' | 'links' | 'Sync';
  method: string;
  options: Options;
  args: string[];
  // biome-ignore lint/suspicious/noExplicitAny: whatever the method takes.
  parameters: any;
  ifChanged?: string | null;
  requestId?: string;
  /** So long after the start the call is ended by its signal. */
  abortAfterMs?: number;
}

/** Of sign-on, those that take one text and not an object. */
const TAKES_TEXT = ['refresh', 'userinfo', 'revoke'];

const subjects = {
  Gateway: (command: Command) => {
    const { options, method, args } = command;
    const subject = new sdk.Gateway(inMilliseconds(options));
    return Reflect.apply(Reflect.get(subject, method), subject, [...args, readOptions(command)]);
  },
  SignOn: ({ options, method, parameters }: Command) => {
    const subject = new sdk.SignOn(inMilliseconds(options));
    if (method === 'exchangeTwice') {
      return exchangeTwice(subject, parameters);
    }
    if (method === 'exchangeAtOnce') {
      const { count, ...exchange } = parameters;
      return Promise.all(Array.from({ length: count }, () => errorNameOf(subject.exchangeCode(exchange))));
    }
    if (method === 'endExchange') {
      return endExchange(subject, parameters);
    }
    const given = TAKES_TEXT.includes(method) ? Object.values(parameters)[0] : parameters;
    return Reflect.apply(Reflect.get(subject, method), subject, [given]);
  },
  webhooks: async (command: Command) => {
    const event = await verified(command);
    // Only the compiler knows which types the SDK knows: null if this test cannot tell.
    const isKnown = sdk.isEvent(event, event.type as sdk.EventType) ? null : false;
    return { event, isTest: event.test === true, isKnown };
  },
  links: async (command: Command) =>
    new sdk.Gateway(inMilliseconds(command.options)).follow(
      (await verified(command)) as sdk.WebhookEvent,
      readOptions(command),
    ),
  Sync: (command: Command) => syncing[command.method as keyof typeof syncing](command),
};

/** With the clock put forward between the two. */
async function exchangeTwice(
  subject: sdk.SignOn,
  { seconds, ...exchange }: sdk.CodeExchange & { seconds: number },
): Promise<unknown> {
  await subject.exchangeCode(exchange);
  const now = Date.now;
  Date.now = () => now() + seconds * 1000;
  try {
    return await subject.exchangeCode(exchange);
  } finally {
    Date.now = now;
  }
}

/**
 * Ends one of two exchanges a while after the first has asked for the keys, which is when the revocation is
 * answered. The next one has the keys answered.
 */
async function endExchange(
  subject: sdk.SignOn,
  { ended, seconds, ...exchange }: sdk.CodeExchange & { ended: 'first' | 'second'; seconds: number },
): Promise<unknown> {
  const ends = { first: new AbortController(), second: new AbortController() };
  const begun = (requestId: keyof typeof ends) =>
    errorNameOf(subject.exchangeCode(exchange, { requestId, signal: ends[requestId].signal }));
  const running = { first: begun('first'), second: begun('second') };
  await subject.revoke('refresh-1');
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  ends[ended].abort();
  await running[ended];
  await subject.revoke('refresh-1');
  return { first: await running.first, second: await running.second };
}

/** `null` if there was none. */
function errorNameOf(result: Promise<unknown>): Promise<string | null> {
  return result.then(
    () => null,
    ({ name }: Error) => name,
  );
}

/** Of a sync, what there is to tell when it has ended. */
interface Course {
  sync: sdk.Sync;
  store: sdk.Store;
  end: AbortController;
  ended: Promise<unknown>;
  differences: sdk.Difference[];
  errors: string[];
}

let course: Course;

const syncing = {
  start: async (command: Command) => start(command, 'run'),
  again: async () => follow(course, 'run'),
  startCatchUp: async (command: Command) => start(command, 'catchUp'),
  pass: async ({ parameters: { seconds } }: Command) => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + seconds * 1000;
  },
  wake: async () => course.sync.wake(),
  stop: () => {
    course.end.abort();
    return reportOf(course);
  },
  ended: () => reportOf(course),
  catchUp: (command: Command) => {
    const one = begun(command);
    one.ended = failureOf(one.sync.catchUp());
    return reportOf(one);
  },
};

function start(command: Command, method: 'run' | 'catchUp'): void {
  course = begun(command);
  follow(course, method);
}

function follow(one: Course, method: 'run' | 'catchUp'): void {
  one.end = new AbortController();
  one.ended = failureOf(one.sync[method]({ signal: one.end.signal }));
  one.ended.then((failure) => failure && say({ failure }));
}

function begun({ options, args: [id = ''], parameters: { store: given, ...more } }: Command): Course {
  const store = storeNamed(given);
  const differences: sdk.Difference[] = [];
  const errors: string[] = [];
  const sync = new sdk.Gateway(inMilliseconds(options)).sync(id, store, {
    ...more,
    onDifference: (found) => {
      say({ differences: found });
      differences.push(...found);
    },
    onUndecided: (clientIds) => errors.push(`undecided: ${clientIds}`),
    onError: ({ name }) => errors.push(name),
  });
  return { sync, store, differences, errors, end: new AbortController(), ended: Promise.resolve() };
}

function storeNamed(name: string): sdk.Store {
  if (name === 'memory') {
    return new sdk.MemoryStore();
  }
  if (process.getBuiltinModule?.('node:sqlite')) {
    return sdk.SqliteStore.open(name);
  }
  const Database = createRequire(import.meta.url)(process.env.SQLITE_BINDING ?? '');
  const database = new Database(name);
  database.pragma('journal_mode = wal');
  return new sdk.SqliteStore(database);
}

function failureOf(running: Promise<void>): Promise<unknown> {
  return running.then(() => null, told);
}

async function reportOf({ ended, store, differences, errors }: Course): Promise<object> {
  const failure = await ended;
  return { failure, differences, errors, entities: store instanceof sdk.MemoryStore ? [...store] : null };
}

function inMilliseconds({ timeoutSeconds, pageSize, retry, ...options }: Options): never {
  const ms = (seconds?: number) => (seconds === undefined ? undefined : seconds * 1000);
  const { maxRetries, baseDelaySeconds, maxDelaySeconds } = retry || {};
  const delays = { maxRetries, baseDelayMs: ms(baseDelaySeconds), maxDelayMs: ms(maxDelaySeconds) };
  return { ...options, timeoutMs: ms(timeoutSeconds), retry: retry === false ? false : delays } as never;
}

function readOptions({ options: { pageSize }, ...command }: Command): object {
  const { ifChanged, requestId, abortAfterMs, method, parameters } = command;
  const signal = abortAfterMs === undefined ? undefined : AbortSignal.timeout(abortAfterMs);
  const asked = method === 'listChanges' ? parameters : {};
  return { pageSize, requestId, signal, ...asked, ...(ifChanged !== undefined && { ifChanged }) };
}

function verified({ parameters }: Command): Promise<sdk.ReceivedEvent> {
  const { body, as, headers, secrets, nowSeconds, toleranceSeconds } = parameters;
  const now = new Date(nowSeconds * 1000);
  return sdk.verifyWebhook(bodyAs(as, Buffer.from(body, 'base64')), headers, secrets, {
    now,
    toleranceSeconds,
  });
}

function bodyAs(as: string | undefined, body: Buffer): Uint8Array | ArrayBuffer | string {
  switch (as) {
    case 'text':
      return body.toString();
    case 'ArrayBuffer':
      return new Uint8Array(body).buffer;
    case 'parsed':
      return JSON.parse(body.toString());
    default:
      return body;
  }
}

/** All that there is to see of an error. Only those of the package keep their names. */
function told(error: unknown): unknown {
  const { name, message } = error as Error;
  const foreign = error instanceof TypeError ? 'ValueError' : `another ${name}`;
  return {
    ...(error as Error),
    name: error instanceof sdk.IntegrationServiceError ? name : foreign,
    message,
    shown: inspect(error),
  };
}

async function answer(command: Command): Promise<void> {
  const reply: Record<string, unknown> = { id: command.id };
  try {
    const value = await subjects[command.on](command);
    reply.value = value instanceof sdk.Paged ? await value.toArray() : value;
    reply.dates = datesIn(reply.value);
  } catch (error) {
    reply.error = told(error);
  }
  say(reply);
}

/** A line without an id is no answer: a test that kills the program has read it. */
function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Names of the members that are a Date: JSON has texts in their place. */
function datesIn(value: unknown): string[] {
  const isObject = typeof value === 'object' && value !== null;
  const found = (isObject ? Object.entries(value) : []).flatMap(([name, member]) =>
    member instanceof Date ? [name] : datesIn(member),
  );
  return [...new Set(found)];
}

for await (const line of createInterface({ input: process.stdin })) {
  answer(JSON.parse(line));
}
process.exit();
