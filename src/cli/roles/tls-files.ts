import type { Config } from '../../config/config.js';
import type { SettingName } from '../../config/settings.js';
import { CertificateFiles, type TlsFiles } from '../../rpc/certificate-files.js';
import { certificateGauges } from '../../telemetry/metrics.js';
import { explaining, StartupError } from '../startup-error.js';
import type { RoleOptions } from './role.js';

type FileSetting = Extract<SettingName, `GRPC_TLS_${string}_FILE`>;

const SERVER_SETTINGS = {
  certFile: 'GRPC_TLS_CERT_FILE',
  keyFile: 'GRPC_TLS_KEY_FILE',
  caFile: 'GRPC_TLS_CLIENT_CA_FILE',
} as const;

const CLIENT_SETTINGS = {
  certFile: 'GRPC_TLS_CLIENT_CERT_FILE',
  keyFile: 'GRPC_TLS_CLIENT_KEY_FILE',
  caFile: 'GRPC_TLS_CA_FILE',
} as const;

/** The certificates of the domain, and the authorities it trusts; undefined without TLS. */
export function serverFiles(config: Config): CertificateFiles | undefined {
  return config.GRPC_TLS_CERT_FILE === undefined ? undefined : filesOf(config, SERVER_SETTINGS);
}

/** The same for edge and worker; undefined on a local socket and where no file is named. */
export function clientFiles(config: Config): CertificateFiles | undefined {
  const { DOMAIN_ADDRESS, GRPC_TLS_CA_FILE } = config;
  const isPlain = DOMAIN_ADDRESS.startsWith('unix:') || GRPC_TLS_CA_FILE === undefined;
  return isPlain ? undefined : filesOf(config, CLIENT_SETTINGS);
}

function filesOf(config: Config, settings: Record<keyof TlsFiles, FileSetting>): CertificateFiles {
  const named = Object.entries(settings).filter(([, setting]) => config[setting] !== undefined);
  const settingNames = named.map(([, setting]) => setting).join(', ');
  const unusable = (why: string) => `What ${settingNames} names cannot be used: ${why}.`;
  const files = Object.fromEntries(named.map(([name, setting]) => [name, config[setting]]));
  return explaining(StartupError, unusable, () => new CertificateFiles(files));
}

/** The files are read again when they change. */
export function watchedTlsFiles(
  { log, metrics, ending }: RoleOptions,
  files: CertificateFiles | undefined,
): CertificateFiles | undefined {
  void files?.watch({ log, ending });
  // Registered also without files, where it has no samples, because rules refer to it.
  certificateGauges(metrics, () => files?.ends() ?? []);
  return files;
}
