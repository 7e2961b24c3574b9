import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { integration, sharedIntegration } from '../typed.js';

describe('completion in bash', () => {
  let script: string;

  beforeAll(async () => {
    script = (await integration(['completion', 'bash'])).stdout;
  });

  /** What bash offers when the last of the words is being typed. */
  function offered(...words: string[]): string[] {
    const typed = words.map((word) => `'${word}'`).join(' ');
    const program = `${script}\nCOMP_WORDS=(integration ${typed}); COMP_CWORD=${words.length}; _integration; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['--noprofile', '--norc', '-c', program], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return stdout.split('\n').filter((line) => line !== '');
  }

  test.each([
    [['ke'], ['key']],
    [
      ['key', 'r'],
      ['rotate', 'revoke'],
    ],
    [['integration', 'integ'], []],
    [
      ['integration', 'con'],
      ['connect', 'connections', 'configure'],
    ],
    [['key', 'rotate', 'key_x', '--o'], ['--overlap']],
    [
      ['subscription', 'd'],
      ['disable', 'delete'],
    ],
    [
      ['delivery', ''],
      ['list', 'show', 'retry', 'give-up', 'resend', 'tail', 'help', '--help'],
    ],
    [['event', 'replay', '--inc'], ['--include-delivered']],
    [['listen', '--f'], ['--forward-to']],
    [['--version', 'ke'], ['key']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', '--help'],
    ],
    [['nothing', 'of', 'ours'], []],
  ])('of %j is %j', (words, expected) => {
    expect(offered(...words)).toEqual(expected);
  });

  test('never offers what is hidden', () => {
    expect(script).not.toContain('--ops-socket');
  });
});

test.each([
  ['zsh', '_describe integration candidates || _files\n'],
  ['fish', `complete -c integration -n "__integration_at ' key'" -f -a rotate `],
])('for %s offers file names where no word follows', async (shell, line) => {
  const { stdout } = await sharedIntegration(['completion', shell]);
  expect(stdout).toContain(line);
  expect(stdout).not.toMatch(/^complete -c integration -f$|' import'" -f/m);
});

test.each([
  ['zsh', /^#compdef integration\n/, "'rotate:Issue a successor"],
  ['fish', /^# fish completion of integration\n/, '-a rotate -d '],
])('for %s every verb comes with what it does', async (shell, opening, line) => {
  const { code, stdout } = await sharedIntegration(['completion', shell]);
  expect(code).toBe(0);
  expect(stdout).toMatch(opening);
  expect(stdout).toContain(line);
});
