import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { liveTokens, ownTokenOf, roleAuthenticator } from '../../../src/cli/roles/role-tokens.js';
import { currentTemporalAccess } from '../../../src/cli/roles/temporal/access.js';
import { loadConfig } from '../../../src/config/config.js';
import { eventually } from '../../support/eventually.js';
import { recordedLog } from '../../support/recorded-log.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const directory = temporaryDirectories();
const [OLD, NEW] = ['o'.repeat(40), 'n'.repeat(40)];
const ends: AbortController[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) {
    end.abort();
  }
});

function rig() {
  const file = join(directory(), 'edge.token');
  const put = (content: string) => {
    writeFileSync(`${file}.new`, content, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  put(`${OLD}\n`);
  const ending = new AbortController();
  ends.push(ending);
  const recorded = recordedLog();
  const config = loadConfig({ EDGE_TOKEN_FILE: file, RELAY_TOKEN: 'r'.repeat(40) });
  const changes = jest.fn();
  const tokens = liveTokens({ config, log: recorded.log, ending: ending.signal }, 'edge', changes, 5);
  const accepts = async (token: string) => {
    try {
      return (await roleAuthenticator(tokens)(token)).caller;
    } catch {
      return undefined;
    }
  };
  return { file, put, tokens, accepts, changes, text: () => recorded.text() };
}

test('a token is replaced without a restart, while the domain accepts both', async () => {
  const { put, tokens, accepts, changes, text } = rig();
  const authenticate = roleAuthenticator(tokens);
  expect([await accepts(OLD), await accepts(NEW)]).toEqual(['edge', undefined]);
  put(`${NEW},${OLD}\n`);
  await eventually('the new token', () => ownTokenOf(tokens, 'edge') === NEW);
  expect([await accepts(OLD), await accepts(NEW)]).toEqual(['edge', 'edge']);
  put(NEW);
  await eventually('the end of the old token', async () => (await accepts(OLD)) === undefined);
  expect(await authenticate(NEW)).toEqual({ caller: 'edge' });
  expect(changes).toHaveBeenCalledTimes(2);
  expect(await accepts('r'.repeat(40))).toBe('relay');
  expect(text()).not.toMatch(/o{40}|n{40}/);
});

test('a token of another right, or only its hash where it is sent, changes nothing', async () => {
  const { put, accepts, text } = rig();
  put('r'.repeat(40));
  await eventually('the refusal', () => text().includes('must differ from'));
  put(`sha256:${'h'.repeat(43)}`);
  await eventually('the other refusal', () => text().includes('must be the token itself'));
  expect(await accepts(OLD)).toBe('edge');
});

test('a file that cannot be used changes nothing and is logged once', async () => {
  const { file, put, accepts, text } = rig();
  put('short');
  await eventually('the warning', () => text().includes('must have at least 32 characters'));
  expect(await accepts(OLD)).toBe('edge');
  chmodSync(file, 0o644);
  await eventually('the other warning', () => text().includes('other users may read'));
  put(NEW);
  await eventually('the new token', async () => (await accepts(NEW)) === 'edge');
  expect(text().match(/a token file cannot be used/g)).toHaveLength(2);
});

test('a domain that lacks the token of a role says so at its start', () => {
  const { log, lines } = recordedLog();
  const config = loadConfig({ EDGE_TOKEN: OLD, MAINTENANCE_TOKEN: NEW });
  liveTokens({ config, log, ending: new AbortController().signal }, 'domain');
  expect(lines()).toMatchObject([
    {
      level: 'warn',
      msg: 'a token of a role is not set: its calls are refused',
      ...{ setting: 'RELAY_TOKEN', caller: 'worker' },
    },
  ]);
});

test('without a file of a token, nothing is read again and no timer runs', () => {
  const setting = jest.spyOn(globalThis, 'setInterval');
  try {
    // An edge only sends its own token, so the file of another role does not matter.
    const file = join(directory(), 'relay.token');
    writeFileSync(file, NEW, { mode: 0o600 });
    const config = loadConfig({ EDGE_TOKEN: OLD, RELAY_TOKEN_FILE: file });
    liveTokens({ config, log: recordedLog().log, ending: new AbortController().signal }, 'edge');
    expect(setting).not.toHaveBeenCalled();
  } finally {
    setting.mockRestore();
  }
});

test('the API key of Temporal is the present content of its file', () => {
  const file = join(directory(), 'key');
  writeFileSync(file, OLD, { mode: 0o600 });
  const config = loadConfig({ TEMPORAL_API_KEY_FILE: file });
  expect(currentTemporalAccess(config)).toEqual({ tls: {}, apiKey: OLD });
  writeFileSync(file, `${NEW}\n`);
  expect(currentTemporalAccess(config)).toEqual({ tls: {}, apiKey: NEW });
});
