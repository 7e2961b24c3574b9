import type { ChannelCredentials } from '@grpc/grpc-js';
import { grpcAddress } from '../../config/parsers.js';
import type { ServiceTokenKind } from '../../identifiers/service-token.js';
import { CertificateFiles } from '../../rpc/certificate-files.js';
import { clientCredentials } from '../../rpc/connect.js';
import { type DemoFile, demoFilePath, readDemoFile, TOKEN_MEMBERS } from '../demo/demo-file.js';
import { grpcAddressOf, secretsKeyFile, temporalUiUrl } from '../from-config.js';
import { explaining } from '../startup-error.js';
import { clientConfig, secretGivenIn } from './client-config.js';
import { UsageError } from './errors.js';

/** What a header may have. The error of gRPC for other characters quotes the token. */
const SENDABLE = /^[!-~]*$/;

/** As typed, or else from the variable of each option. */
export interface TargetOptions {
  address?: string;
  token?: string;
  ca?: string;
}

export interface Target {
  address: string;
  token: string;
  credentials: ChannelCredentials;
  /** The key file on this machine, by ENVIRONMENT or else the environment of the token. */
  keyFile(): string;
  /** The workflows in the UI of Temporal: that of the settings or, for the demo, the one that it runs. */
  temporalUiUrl?: string | undefined;
  /** Of the demo environment, if it is the target. */
  demo: Partial<DemoFile> | undefined;
}

/** The demo environment fills in what was not typed. A live token goes to the address of the settings. */
export function targetOf(
  { address, token: given, ca }: TargetOptions,
  demoToken: ServiceTokenKind = 'operator',
): Target {
  if (address !== undefined) {
    const refusal = (why: string) => `--address ${why}, and is ${address}.`;
    explaining(UsageError, refusal, () => grpcAddress(address));
  }
  const isTyped = given !== process.env.INTEGRATION_TOKEN;
  const token = isTyped ? given : secretGivenIn('INTEGRATION_TOKEN');
  const isLive = token?.includes('_live_');
  const config = clientConfig(isLive ? 'live' : 'demo');
  const demo = isLive ? undefined : readDemoFile(demoFilePath(config.DATA_DIR));
  const configured = token === undefined ? undefined : grpcAddressOf(config);
  const foundAddress = address ?? demo?.grpcAddress ?? configured;
  const foundToken = token ?? demo?.[TOKEN_MEMBERS[demoToken]];
  if (foundAddress === undefined || foundToken === undefined) {
    throw new UsageError(
      config.ENVIRONMENT === 'live'
        ? 'The command needs a token: set INTEGRATION_TOKEN_FILE to the file that has it, or give --token.'
        : `There is no demo environment in ${config.DATA_DIR}. Start it with \`make run\`, or set DATA_DIR to where it is. For another environment, set INTEGRATION_TOKEN_FILE to the file that has a token for it.`,
    );
  }
  if (!SENDABLE.test(foundToken)) {
    throw new UsageError('The token has characters that no token has, such as a line break.');
  }
  const targetDemo = foundAddress === demo?.grpcAddress ? demo : undefined;
  const uiOfDemo = config.TEMPORAL_ADDRESS === undefined ? targetDemo?.temporalUiUrl : undefined;
  return {
    address: foundAddress,
    token: foundToken,
    credentials: credentialsFor(foundAddress, ca),
    keyFile: () => secretsKeyFile(config).path,
    temporalUiUrl: temporalUiUrl(config) ?? (uiOfDemo || undefined),
    demo: targetDemo,
  };
}

function credentialsFor(address: string, caFile: string | undefined): ChannelCredentials {
  const unusable = (why: string) => `The file given as --ca or INTEGRATION_CA cannot be used: ${why}.`;
  return explaining(UsageError, unusable, () =>
    clientCredentials(address, caFile ? new CertificateFiles({ caFile }) : undefined),
  );
}
