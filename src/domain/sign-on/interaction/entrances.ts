import type { Entrance } from '../sessions/browser.js';
import type { KnownApplication, SignOn } from '../sign-on.js';

/** A page with more entrances would not help. */
export const MAX_ENTRANCES = 5;

interface EnterableApplication {
  name: string;
  instanceName: string;
  signInUrl: string | undefined;
}

/** The applications of these pairs, which come from the address of a page: anyone may have written them. */
export async function applicationsAt(
  signOn: Pick<SignOn, 'issuer' | 'unitOfWork'>,
  entrances: readonly Entrance[],
): Promise<EnterableApplication[]> {
  const asked = entrances.slice(0, MAX_ENTRANCES);
  const found = await Promise.all(asked.map((entrance) => applicationAt(signOn, entrance)));
  return found.flatMap((application) => application ?? []);
}

async function applicationAt(
  { issuer, unitOfWork: { rows } }: Pick<SignOn, 'issuer' | 'unitOfWork'>,
  { applicationId, instanceId }: Entrance,
): Promise<EnterableApplication | undefined> {
  const application = await rows.applications.find(applicationId);
  const returnsThere = application?.redirectUris.some((uri) => uri.instanceId === instanceId);
  const instance = returnsThere ? await rows.instances.find(instanceId) : undefined;
  if (!application?.enabled || !instance) {
    return undefined;
  }
  const { name } = application;
  return { name, instanceName: instance.name, signInUrl: signInUrlOf(application, { issuer, instanceId }) };
}

/** OpenID Connect Core 4, with the instance for applications of several. Only registered addresses. */
function signInUrlOf(
  { initiateLoginUri }: KnownApplication,
  { issuer, instanceId }: { issuer: string; instanceId: string },
): string | undefined {
  if (initiateLoginUri === null) {
    return undefined;
  }
  const url = new URL(initiateLoginUri);
  url.searchParams.set('iss', issuer);
  url.searchParams.set('instance_id', instanceId);
  return url.href;
}
