import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import type { Log } from '../../src/telemetry/log.js';
import { eventually } from '../support/eventually.js';
import { recordedLog } from '../support/recorded-log.js';
import { newTemporaryDirectory } from '../support/temporary-directory.js';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

describe('a line', () => {
  test.each(LEVELS)('of %s is one JSON object with its level, time, role, message and fields', (level) => {
    const recorded = recordedLog('debug', 'edge');
    recorded.log[level]('something happened', { requestId: 'r-1', count: 3 });
    expect(recorded.text()).toMatch(/^\{[^\n]*\}\n$/);
    expect(recorded.lines()).toEqual([
      {
        ...{ host: hostname(), pid: process.pid, version: '1.2.3' },
        level,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        role: 'edge',
        requestId: 'r-1',
        count: 3,
        msg: 'something happened',
      },
    ]);
  });

  test('says which process of which host wrote it, and in which version', () => {
    const recorded = recordedLog();
    recorded.log.info('a line');
    expect(recorded.lines()).toMatchObject([{ host: hostname(), pid: process.pid, version: '1.2.3' }]);
  });

  test('stays one line whatever its fields hold', () => {
    const circle: Record<string, unknown> = { name: 'circle' };
    circle.self = circle;
    const odd = { text: 'a\nb\r\n"c"}\u2028', big: 1n, circle, none: undefined, bytes: Buffer.from('x') };
    const recorded = recordedLog();
    recorded.log.info('a line', odd);
    expect(recorded.text().trim().split('\n')).toHaveLength(1);
    expect(recorded.lines()[0]).toMatchObject({ text: odd.text, msg: 'a line' });
  });

  test('cannot be made to look like two by a field', () => {
    const recorded = recordedLog();
    recorded.log.info('a line', { name: '"}\n{"level":"fatal","msg":"forged' });
    expect(recorded.lines()).toMatchObject([{ level: 'info', msg: 'a line' }]);
  });

  test('has no credential left, wherever it stood', () => {
    const key = `ik_live_${'a1B2'.repeat(14)}`;
    const recorded = recordedLog();
    const stack = `Error: refused\n${key}\n    at x (y.js:1:1)`;
    recorded.log.error(`refused ${key}`, { key, stack, nested: { list: [key] }, [key]: 1 });
    expect(recorded.text()).not.toContain('a1B2');
    expect(recorded.lines()[0]).toMatchObject({ key: '[secret]', msg: 'refused [secret]' });
  });
});

describe('the least level', () => {
  test.each(LEVELS)('%s lets through what is as grave or graver', (least) => {
    const recorded = recordedLog(least);
    for (const level of LEVELS) {
      (recorded.log as Log)[level]('a line');
    }
    expect(recorded.lines().map(({ level }) => level)).toEqual(LEVELS.slice(LEVELS.indexOf(least)));
  });
});

const argumentsFor = (script: string, format = 'json', before = '') => [
  ...['--import', 'tsx', '--input-type=module', '--eval'],
  `import { createLog } from './src/telemetry/log.ts';
   ${before}
   const { info } = createLog({ role: 'edge', version: '1.2.3', level: 'info', format: '${format}' });
   ${script}`,
];

test.each([
  ['coloured on a terminal', true, {}, true],
  ['not coloured with NO_COLOR', true, { NO_COLOR: '1' }, false],
  ['not coloured in a file', false, {}, false],
])('a line for people is %s', (_, isTTY, settings, isColoured) => {
  // FORCE_COLOR: pino-pretty, too, must take the output for a terminal with colours.
  const env = { PATH: process.env.PATH, FORCE_COLOR: '1', ...settings };
  const script = argumentsFor("info('a line')", 'pretty', `process.stdout.isTTY = ${isTTY};`);
  const { stdout } = spawnSync(process.execPath, script, { env, encoding: 'utf8' });
  expect([stdout.includes('a line'), stdout.includes('\x1b[')]).toEqual([true, isColoured]);
});

describe('standard output', () => {
  const logging = (script: string) => spawn(process.execPath, argumentsFor(script));
  const messagesIn = (output: string) =>
    output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg);

  test('gets lines while the process goes on', async () => {
    const child = logging("info('first'); info('second'); process.stdin.resume();");
    let output = '';
    for await (const part of child.stdout) {
      output += part;
      if (output.includes('second')) {
        child.stdin.end();
      }
    }
    expect(messagesIn(output)).toEqual(['first', 'second']);
  });

  test.each([
    ['ends by itself', ''],
    ['exits', 'process.exit(3);'],
    ['dies of an error', "throw new Error('of the test');"],
  ])('has every line of a process that %s', async (_, end) => {
    const child = logging(`for (let i = 0; i < 500; i += 1) info(\`line \${i}\`); ${end}`);
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    // A write that was under way at the end may come last.
    expect(new Set(messagesIn(output))).toEqual(
      new Set(Array.from({ length: 500 }, (__, index) => `line ${index}`)),
    );
  });

  const FULL = '/dev/full';
  const testOnFull = existsSync(FULL) ? test : test.skip;

  testOnFull.each([
    ['serves on', "process.stdin.resume(); process.stdin.once('end', () => process.exit(3));"],
    ['dies of an error', "info('last'); throw new Error('of the test');"],
  ])('that takes no bytes neither ends nor delays a process that %s', async (_, script) => {
    const output = openSync(FULL, 'w');
    const child = spawn(process.execPath, argumentsFor(`info('first'); ${script}`), {
      stdio: ['pipe', output, 'pipe'],
    });
    closeSync(output);
    const ended = once(child, 'exit');
    child.stdin?.end();
    const [said, [code]] = await Promise.all([text(child.stderr as Readable), ended]);
    expect([code, said]).toEqual(
      script.includes('throw') ? [1, expect.stringContaining('of the test')] : [3, ''],
    );
  });

  const hasPipes = existsSync('/proc/self/fd') && spawnSync('mkfifo', ['--version']).status === 0;
  const testPipe = hasPipes ? test : test.skip;

  testPipe('that nothing reads does not keep a process from ending', async () => {
    const pipe = join(newTemporaryDirectory(), 'pipe');
    spawnSync('mkfifo', [pipe]);
    const output = openSync(pipe, 'r+');
    // Starting a process makes writes to a shared pipe wait, as in a supervisor. A pipe holds fewer lines.
    const script = `
      const { spawnSync } = await import('node:child_process');
      spawnSync('true', { stdio: ['ignore', 'inherit', 'ignore'] });
      for (let i = 0; i < 2_000; i += 1) info('line ' + i);
      process.stdin.resume();
      process.stdin.once('end', () => process.exit(3));`;
    const child = spawn(process.execPath, argumentsFor(script), { stdio: ['pipe', output, 'inherit'] });
    child.stdin?.end();
    const [code] = await once(child, 'exit');
    closeSync(output);
    expect(code).toBe(3);
  });

  testPipe('that is read slowly does not keep a process from ending', async () => {
    const pipe = join(newTemporaryDirectory(), 'pipe');
    spawnSync('mkfifo', [pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const output = openSync(pipe, 'w');
    const script = "for (let i = 0; i < 2_000; i += 1) info(i + ' '.repeat(1_000)); process.exit(3);";
    const child = spawn(process.execPath, argumentsFor(script), { stdio: ['ignore', output, 'inherit'] });
    closeSync(output);
    let readBytes = 0;
    // Often enough for some space in each second, and by far too seldom for all lines before the test ends.
    const reading = setInterval(() => {
      try {
        readBytes += readSync(reader, Buffer.alloc(4_096));
      } catch (error) {
        // Nothing is there yet.
        expect((error as NodeJS.ErrnoException).code).toBe('EAGAIN');
      }
    }, 500);
    const [code] = await once(child, 'exit');
    clearInterval(reading);
    closeSync(reader);
    expect([code, readBytes > 0]).toEqual([3, true]);
  });

  testPipe('that is read late has every line of a process that exits, in order', async () => {
    const pipe = join(newTemporaryDirectory(), 'pipe');
    spawnSync('mkfifo', [pipe]);
    const output = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    // Takes as many as there is space for.
    writeSync(output, '\n'.repeat(1_024 * 1_024));
    const script = "for (let i = 0; i < 3_000; i += 1) info(i + ' '.repeat(1_000)); process.exit(3);";
    // Said before the log writes its last lines.
    const before = "process.once('exit', () => process.stderr.write('exiting'));";
    const child = spawn(process.execPath, argumentsFor(script, 'json', before), {
      stdio: ['ignore', output, 'pipe'],
    });
    await once(child.stderr as Readable, 'data');
    const input = openSync(pipe, 'r');
    const reader = spawn('cat', { stdio: [input, 'pipe', 'inherit'] });
    closeSync(input);
    closeSync(output);
    const lines = messagesIn(await text(reader.stdout as Readable));
    expect(lines.map(Number)).toEqual(Array.from({ length: 3_000 }, (_, index) => index));
  });

  const testLimited = spawnSync('prlimit', ['--version']).status === 0 ? test : test.skip;

  testLimited('gets lines that the disk refused once it takes them', async () => {
    const file = join(newTemporaryDirectory(), 'lines');
    const output = openSync(file, 'a');
    const script = `
      import { write } from 'node:fs';
      process.stdin.once('data', () => {
        info('first');
        write(1, 'of the test', (error) => process.stderr.write(String(error?.code)));
      });
      process.stderr.write('started');`;
    const child = spawn(process.execPath, argumentsFor(script), { stdio: ['pipe', output, 'pipe'] });
    closeSync(output);
    const said = () => once(child.stderr as Readable, 'data').then(String);
    const limit = (bytes: string) => spawnSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:`]);
    expect(await said()).toBe('started');
    writeFileSync(file, 'x');
    limit('1');
    child.stdin?.write('go');
    expect(await said()).toBe('EFBIG');
    limit('unlimited');
    const line = await eventually('the line', () => readFileSync(file, 'utf8').slice(1));
    expect(messagesIn(line)).toEqual(['first']);
    child.stdin?.end();
    await once(child, 'exit');
  });

  test('is a file that gets whole lines from two processes at once', async () => {
    const file = join(newTemporaryDirectory(), 'lines');
    const output = openSync(file, 'a');
    const script =
      'for (let i = 0; i < 2_000; i += 1) setTimeout(() => info(process.pid + ` ` + i), i / 100);';
    const children = ['first', 'second'].map(() =>
      spawn(process.execPath, argumentsFor(script), { stdio: ['ignore', output, 'inherit'] }),
    );
    await Promise.all(children.map((child) => once(child, 'exit')));
    closeSync(output);
    const messages = messagesIn(readFileSync(file, 'utf8'));
    const expected = children.flatMap(({ pid }) =>
      Array.from({ length: 2_000 }, (_, index) => `${pid} ${index}`),
    );
    expect(messages.sort()).toEqual(expected.sort());
  });
});
