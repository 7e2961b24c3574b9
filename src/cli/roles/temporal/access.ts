import { readFileSync } from 'node:fs';
import type { WorkerOptions } from '../../../../workflows/worker.js';
import type { Config } from '../../../config/config.js';
import { longSecret } from '../../../config/parsers.js';
import { secretOf } from '../../../config/secret-files.js';
import { explaining, PassingError, StartupError } from '../../startup-error.js';

/** How the worker authenticates to Temporal and verifies the server. */
export function temporalAccess(config: Config): Pick<WorkerOptions, 'tls' | 'apiKey'> {
  const { TEMPORAL_API_KEY: apiKey } = config;
  const unusable = (why: string) =>
    `What TEMPORAL_TLS_CA_FILE, TEMPORAL_TLS_CERT_FILE, TEMPORAL_TLS_KEY_FILE names cannot be used: ${why}.`;
  const tls = explaining(StartupError, unusable, () => tlsOf(config));
  return { ...(tls && { tls }), ...(apiKey && { apiKey: apiKey.reveal() }) };
}

/** The same with the present content of the API key file. */
export function currentTemporalAccess(config: Config): Pick<WorkerOptions, 'tls' | 'apiKey'> {
  const { TEMPORAL_API_KEY_FILE: file } = config;
  if (file === undefined) {
    return temporalAccess(config);
  }
  // The file was sound when the settings were read. A program that renews it may be writing it now.
  const unusable = (why: string) => `TEMPORAL_API_KEY_FILE names a file that ${why}.`;
  const apiKey = explaining(PassingError, unusable, () => longSecret(secretOf(file)));
  return temporalAccess({ ...config, TEMPORAL_API_KEY: apiKey });
}

/** Public authorities apply where no file is named. An API key is never sent in the clear. */
function tlsOf(config: Config): WorkerOptions['tls'] {
  const { TEMPORAL_TLS_CA_FILE: ca, TEMPORAL_TLS_CERT_FILE: crt, TEMPORAL_TLS_KEY_FILE: key } = config;
  if (!ca && !crt && config.TEMPORAL_TLS !== 'on' && !config.TEMPORAL_API_KEY) {
    return undefined;
  }
  return {
    ...(ca && { serverRootCACertificate: readFileSync(ca) }),
    ...(crt && key && { clientCertPair: { crt: readFileSync(crt), key: readFileSync(key) } }),
  };
}
