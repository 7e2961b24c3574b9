import type { SettingName } from '../../config/settings.js';
import { CertificateFiles, type TlsFiles } from '../../rpc/certificate-files.js';
import { certificateGauge } from '../../telemetry/metrics.js';
import { withTlsFiles } from '../startup-error.js';
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
export function serverTlsFiles(options: RoleOptions): CertificateFiles | undefined {
  return options.config.GRPC_TLS_CERT_FILE === undefined
    ? without(options)
    : watched(options, SERVER_SETTINGS);
}

/** The same for edge and worker; undefined on a local socket and where no file is named. */
export function clientTlsFiles(options: RoleOptions): CertificateFiles | undefined {
  const { DOMAIN_ADDRESS, GRPC_TLS_CA_FILE } = options.config;
  const isPlain = DOMAIN_ADDRESS.startsWith('unix:') || GRPC_TLS_CA_FILE === undefined;
  return isPlain ? without(options) : watched(options, CLIENT_SETTINGS);
}

/** Registers the metric without samples, so that rules may refer to it. */
function without({ metrics }: RoleOptions): undefined {
  certificateGauge(metrics, () => []);
}

function watched(
  { config, log, metrics, ending }: RoleOptions,
  settings: Record<keyof TlsFiles, FileSetting>,
): CertificateFiles {
  const named = Object.entries(settings).filter(([, setting]) => config[setting] !== undefined);
  const files = withTlsFiles(
    named.map(([, setting]) => setting),
    () => new CertificateFiles(Object.fromEntries(named.map(([name, setting]) => [name, config[setting]]))),
  );
  void files.watch({ log, ending });
  certificateGauge(metrics, () => files.ends());
  return files;
}
