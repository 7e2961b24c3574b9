import { reasonOf } from '../../../../workflows/log.js';
import type { NamespaceSetup } from '../../../../workflows/namespace-setup.js';
import type { Config } from '../../../config/config.js';
import { namespaceClaimOf } from '../../from-config.js';
import { currentTemporalAccess } from '../../roles/temporal/access.js';
import { StartupError } from '../../startup-error.js';
import { print, say } from '../output/print.js';
import { asJson } from '../output/printable.js';

/** Sets up only Temporal. Can be repeated. */
export async function initTemporal(config: Config, { json }: { json?: boolean }): Promise<void> {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = config;
  if (address === undefined) {
    throw new StartupError('TEMPORAL_ADDRESS is not set: there is no Temporal to set up.');
  }
  const setup = await setUp(config, address).catch((error: unknown) => {
    throw new StartupError(`Temporal at ${address} was not set up: ${reasonOfCall(error)}.`, {
      cause: error,
    });
  });
  print(json ? asJson({ address, namespace, ...setup }) : sentenceOf(setup, config));
}

/** After the environment is made, which needs no Temporal: a failure is only reported. */
export async function initTemporalToo(config: Config): Promise<void> {
  const { TEMPORAL_ADDRESS: address } = config;
  if (address === undefined) {
    return;
  }
  try {
    say(sentenceOf(await setUp(config, address), config));
  } catch (error) {
    say(
      `Temporal at ${address} was not set up: ${reasonOfCall(error)}. The service works without it; repeat this part with: integration init --temporal`,
    );
  }
}

async function setUp(config: Config, address: string): Promise<NamespaceSetup> {
  const { setUpNamespace } = await import('../../../../workflows/namespace-setup.js');
  const place = { address, namespace: config.TEMPORAL_NAMESPACE, ...currentTemporalAccess(config) };
  return setUpNamespace(place, namespaceClaimOf(config));
}

function sentenceOf({ isNew, addedAttributes }: NamespaceSetup, config: Config): string {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = config;
  const made = `The namespace "${namespace}" at ${address} ${isNew ? 'is made' : 'exists'}; `;
  return addedAttributes.length === 0
    ? `${made}it has all search attributes.`
    : `${made}these search attributes are added: ${addedAttributes.join(', ')}.`;
}

/** Without the full stop, as part of a sentence. */
function reasonOfCall(error: unknown): string {
  return reasonOf(error).replace(/\.$/, '');
}
