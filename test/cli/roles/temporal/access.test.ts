import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { currentTemporalAccess, temporalAccess } from '../../../../src/cli/roles/temporal/access.js';
import { PassingError, StartupError } from '../../../../src/cli/startup-error.js';
import { type Config, loadConfig } from '../../../../src/config/config.js';
import { Secret } from '../../../../src/config/secret.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';

describe('the way to Temporal', () => {
  const directory = temporaryDirectories();

  function file(name: string): string {
    const path = join(directory(), name);
    writeFileSync(path, `content of ${name}`);
    return path;
  }
  const contentOf = (name: string) => Buffer.from(`content of ${name}`);

  const settings = (given: Partial<Config> = {}) => ({ ...loadConfig({}), ...given });

  test('is in the clear where nothing is set', () => {
    expect(temporalAccess(settings())).toEqual({});
  });

  test('is TLS with the public authorities where only TLS is asked for', () => {
    expect(temporalAccess(settings({ TEMPORAL_TLS: 'on' }))).toEqual({ tls: {} });
  });

  test('is TLS wherever an API key is shown', () => {
    const access = temporalAccess(settings({ TEMPORAL_API_KEY: new Secret('key'), TEMPORAL_TLS: 'off' }));
    expect(access).toEqual({ tls: {}, apiKey: 'key' });
  });

  test('trusts the authority of a file, and shows the certificate of another', () => {
    expect(temporalAccess(settings({ TEMPORAL_TLS_CA_FILE: file('ca') }))).toEqual({
      tls: { serverRootCACertificate: contentOf('ca') },
    });
    const pair = { TEMPORAL_TLS_CERT_FILE: file('crt'), TEMPORAL_TLS_KEY_FILE: file('key') };
    expect(temporalAccess(settings(pair))).toEqual({
      tls: { clientCertPair: { crt: contentOf('crt'), key: contentOf('key') } },
    });
  });

  test('is refused with the settings to look at where a file cannot be read', () => {
    const refused = () => temporalAccess(settings({ TEMPORAL_TLS_CA_FILE: '/nowhere/ca.pem' }));
    expect(refused).toThrow(StartupError);
    expect(refused).toThrow(/TEMPORAL_TLS_CA_FILE.*\/nowhere\/ca\.pem/);
    const gone = () => currentTemporalAccess(settings({ TEMPORAL_API_KEY_FILE: '/nowhere/key' }));
    expect(gone).toThrow('TEMPORAL_API_KEY_FILE names a file that does not exist.');
    const open = file('open');
    chmodSync(open, 0o644);
    const unsafe = () => currentTemporalAccess(settings({ TEMPORAL_API_KEY_FILE: open }));
    expect(unsafe).toThrow('TEMPORAL_API_KEY_FILE names a file that other users may read: chmod 600.');
  });

  test('may be tried again where only the file of the API key cannot be read', () => {
    const refused = () => currentTemporalAccess(settings({ TEMPORAL_API_KEY_FILE: '/nowhere/key' }));
    expect(refused).toThrow(PassingError);
  });
});
