import { expect, test } from '@jest/globals';
import { integration, sharedIntegration } from './typed.js';

const COMMANDS: [args: string[], settings?: Record<string, string>][] = [
  [['--version']],
  [['key', 'rotat']],
  [['config', '--json'], { GATEWAY_PORT: '8080' }],
  [['config'], { GATEWAY_PORT: 'x' }],
  [['call', 'Operator/ListIntegrations', '--address', '127.0.0.1:1', '--token', 'x']],
  [['config', '--json']],
];

test('commands of the shared process answer what they answer in a process of their own', async () => {
  const apart = await Promise.all(COMMANDS.map(([args, settings]) => integration(args, settings)));
  const shared = await Promise.all(COMMANDS.map(([args, settings]) => sharedIntegration(args, settings)));
  expect(shared).toEqual(apart);
  expect(shared.map(({ code }) => code)).toEqual([0, 2, 0, 78, 1, 0]);
});
