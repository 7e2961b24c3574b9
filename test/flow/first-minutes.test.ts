import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { OutputLines } from '../support/output-lines.js';
import { root, type ServiceProcess, serviceProcesses } from '../support/service-process.js';

const MOST_MS = 120_000;
const THINGS = ['Sign in', 'Read', 'Ask again', 'Receive', 'Act'];

/** The numbered things of a text, each from its number to the next. */
type Source = (service: ServiceProcess) => string;

/** The README names the usual ports and directory. */
const ofReadme: Source = (service) => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, section = ''] = /## Five things to try\n([\s\S]*?)\n## /.exec(readme) ?? [];
  const { demoAppUrl, gatewayUrl } = service.demo();
  return section
    .replaceAll('./.data/demo/demo.json', service.demoFile)
    .replaceAll('http://localhost:4001', gatewayUrl)
    .replaceAll('http://localhost:4004', demoAppUrl)
    .replaceAll('**', '');
};
const ofTerminal: Source = (service) => {
  const [, section = ''] = /Five things to try.*\n([\s\S]*)Ctrl-C/.exec(service.errors.text()) ?? [];
  return section.replaceAll(/^ +/gm, '');
};

const sources: [string, Source][] = [
  ['the README', ofReadme],
  ['the terminal', ofTerminal],
];

describe.each(sources)('the five things to try, of %s, work as pasted', (_, source) => {
  const services = serviceProcesses();
  let service: ServiceProcess;
  let things: string[] = [];
  /** Which the terminal prints first, because the directory is not the usual one. */
  let whereItIs = '';
  const running: ReturnType<typeof spawn>[] = [];
  beforeAll(async () => {
    service = await services.start();
    await service.errors.nextText('Ctrl-C ends everything');
    const text = source(service);
    whereItIs = /^export .+\n/m.exec(text)?.[0] ?? `export DATA_DIR='${service.dataDir}'\n`;
    things = text.split(/^(?=\d\. )/m).filter((thing) => /^[1-9]\. /.test(thing));
  });
  afterEach(() => {
    for (const child of running.splice(0)) {
      child.kill('SIGKILL');
    }
  });

  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const options = () => ({ cwd: root, env: { PATH, NODE_COMPILE_CACHE } });
  /** The lines to paste. */
  const commandsOf = (thing: string) =>
    thing.split('\n').filter((line) => /^(?:curl|\.\/integration|\w+=\$\()/.test(line));
  /** Each thing may use variables that an earlier one has set. */
  const pasted = (thing: string): string => {
    const given = things.flatMap(commandsOf).filter((line) => /^\w+=/.test(line));
    const lines = [whereItIs, ...given, ...commandsOf(thing)].join('\n');
    const { stdout, stderr, status } = spawnSync('sh', ['-c', lines], {
      ...options(),
      encoding: 'utf8',
      // A command that does not end would block this process, and no limit of a test could end it.
      timeout: MOST_MS,
    });
    expect([status, stderr]).toEqual([0, '']);
    return stdout;
  };

  test('in this order', () => {
    const titles = things.map((thing, index) => thing.startsWith(`${index + 1}. ${THINGS[index]}`));
    expect(titles).toEqual(THINGS.map(() => true));
  });

  test('1: the address leads to an application that begins a sign-in', async () => {
    const [, address = ''] = /(http:\/\/localhost:\d+)\b/.exec(things[0] ?? '') ?? [];
    expect(address).toBe(service.demo().demoAppUrl);
    const started = await fetch(`${address}/sign-in`, { redirect: 'manual' });
    const signIn = await fetch(started.headers.get('location') ?? '', { redirect: 'manual' });
    expect(signIn.headers.get('location')).toMatch(/^\/auth\/sign-in\?/);
  });

  test('2: the key reads the connections and the clients of the first one', () => {
    const [connections, clients] = pasted(things[1] ?? '')
      .split(/(?<=\])\s+(?=\[)/)
      .map((list) => JSON.parse(list) as { id: string; name: string }[]);
    expect(connections?.map(({ id }) => id)).toEqual(service.demo().apiKeys[0]?.instanceIntegrationIds);
    expect(clients?.map(({ name }) => name)).toContain('Tallowfern Bakeries');
  });

  test('3: the entity tag is answered by 304', () => {
    expect(pasted(things[2] ?? '')).toMatch(/^HTTP\/1\.1 304 /);
  });

  test('4: the listener gets the event of the added user, and its looks are not logged', async () => {
    const [listen = '', create = ''] = commandsOf(things[3] ?? '');
    const child = spawn('sh', ['-c', `${whereItIs}exec ${listen}`], {
      ...options(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.push(child);
    const [output, errors] = [new OutputLines(), new OutputLines()];
    output.read(child.stdout);
    errors.read(child.stderr);
    await errors.nextText('Ctrl-C ends this');
    pasted(create);
    expect(await output.nextText('user.created')).toContain('verified');
    const looks = () =>
      service.output.lines().filter(({ method }) => String(method).endsWith('/GetSubscription'));
    await service.output.nextLine(({ method }) => String(method).endsWith('/GetSubscription'));
    expect(new Set(looks().map(({ level }) => level))).toEqual(new Set(['debug']));
  });

  test('5: the operator lists integrations and methods', () => {
    const said = pasted(things[4] ?? '');
    expect(said).toContain('Brightledger Accounting');
    expect(said).toContain('integration.platform.v1.PlatformService');
  });
});
