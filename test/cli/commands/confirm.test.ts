import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { confirmation, type Terminal } from '../../../src/cli/commands/confirm.js';
import { Unfinished, UsageError } from '../../../src/cli/commands/errors.js';

function terminal({ inputIsTTY = true, outputIsTTY = true } = {}) {
  const input = Object.assign(new PassThrough(), { isTTY: inputIsTTY });
  const output = Object.assign(new PassThrough(), { isTTY: outputIsTTY });
  return { input, output, streams: { input, output } as Terminal };
}

describe('what cannot be undone', () => {
  test.each(['y', 'Y', 'yes', ' YES '])('is done when the answer is %s', async (answer) => {
    const { input, output, streams } = terminal();
    const asked = confirmation({}, streams)('Revoke it?');
    input.write(`${answer}\n`);
    await expect(asked).resolves.toBeUndefined();
    expect(String(output.read())).toContain('Revoke it? [y/N] ');
  });

  test('is asked about without letting the name of a thing change the terminal', async () => {
    const { input, output, streams } = terminal();
    const asked = confirmation({}, streams)('Disconnect Harbor\u009b2J\u202elight?');
    input.write('y\n');
    await asked;
    expect(String(output.read())).toContain('Disconnect Harbor·2J·light? [y/N] ');
  });

  test.each(['', 'n', 'no', 'yesterday', 'sure'])('is left when the answer is "%s"', async (answer) => {
    const { input, streams } = terminal();
    const asked = confirmation({}, streams)('Revoke it?');
    input.write(`${answer}\n`);
    await expect(asked).rejects.toBeInstanceOf(Unfinished);
  });

  test('is left when the terminal closes', async () => {
    const { input, streams } = terminal();
    const asked = confirmation({}, streams)('Revoke it?');
    input.end();
    await expect(asked).rejects.toBeInstanceOf(Unfinished);
  });

  test('is done without a question where --yes is given', async () => {
    const { output, streams } = terminal({ inputIsTTY: false });
    await confirmation({ yes: true }, streams)('Revoke it?');
    expect(output.read()).toBeNull();
  });

  test.each([
    ['to read from', { inputIsTTY: false }],
    ['to ask on', { outputIsTTY: false }],
  ])('is refused before anything is asked where there is no terminal %s', (_, kind) => {
    expect(() => confirmation({}, terminal(kind).streams)).toThrow(UsageError);
  });
});
