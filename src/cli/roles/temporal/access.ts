import { readFileSync } from 'node:fs';
import type { WorkerOptions } from '../../../../workflows/worker.js';
import type { Config } from '../../../config/config.js';
import { longSecret } from '../../../config/parsers.js';
import type { Secret } from '../../../config/secret.js';
import { secretOf } from '../../../config/secret-files.js';
import { PassingError, withFilesOf } from '../../startup-error.js';

/** How the worker authenticates to Temporal and verifies the server. */
export function temporalAccess(config: Config): Pick<WorkerOptions, 'tls' | 'apiKey'> {
  const { TEMPORAL_API_KEY: apiKey } = config;
  const tls = withFilesOf(['TEMPORAL_TLS_CA_FILE', 'TEMPORAL_TLS_CERT_FILE', 'TEMPORAL_TLS_KEY_FILE'], () =>
    tlsOf(config),
  );
  return { ...(tls && { tls }), ...(apiKey && { apiKey: apiKey.reveal() }) };
}

/** The same with the present content of the API key file. */
export function currentTemporalAccess(config: Config): Pick<WorkerOptions, 'tls' | 'apiKey'> {
  const { TEMPORAL_API_KEY_FILE: file } = config;
  if (file === undefined) {
    return temporalAccess(config);
  }
  return temporalAccess({ ...config, TEMPORAL_API_KEY: apiKeyIn(file) });
}

/** The file was sound when the settings were read. A program that renews it may be writing it now. */
function apiKeyIn(file: string): Secret {
  try {
    return longSecret(secretOf(file));
  } catch (error) {
    const message = `TEMPORAL_API_KEY_FILE names a file that ${(error as Error).message}.`;
    throw new PassingError(message, { cause: error });
  }
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
