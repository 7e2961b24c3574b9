import type { Application } from '../../../../../generated/proto/integration/operator/v1/applications.js';
import { confirmation } from '../../confirm.js';
import { redirectUris } from '../../option-parsers.js';
import { UsageError } from '../../usage-error.js';
import { withSecret } from '../secret.js';
import type { Action } from '../session.js';
import { factsOf, shownApplication } from './app-facts.js';

export const addRedirectUri: Action = async ({ operator, call }, [applicationId = '', given = '']) => {
  const redirectUri = parsed(given);
  return shownApplication(await operator.addRedirectUri({ applicationId, redirectUri }, call));
};

export const removeRedirectUri: Action = async ({ operator, call }, [applicationId = '', uri = '']) => {
  return shownApplication(await operator.removeRedirectUri({ applicationId, uri }, call));
};

export const rotateSecret: Action<{ overlap?: number; yes?: boolean }> = async (
  { operator, call },
  [applicationId = ''],
  { overlap, yes },
) => {
  if (overlap === 0) {
    const confirm = confirmation({ yes });
    await confirm(`End every present secret of ${applicationId} at once, before the new one is in place?`);
  }
  const request = { applicationId, overlapSeconds: overlap };
  const answer = await operator.rotateApplicationSecret(request, call);
  const facts = factsOf(answer.application as Application);
  return { json: answer, text: withSecret(facts, 'The client_secret', answer.clientSecret) };
};

export const revokeSecret: Action<{ yes?: boolean }> = async (
  { operator, call },
  [applicationId = '', secretId = ''],
  options,
) => {
  const confirm = confirmation(options);
  const { application } = await operator.getApplication({ applicationId }, call);
  await confirm(`Revoke ${secretId} of "${application?.name}"? Callers that use it are refused at once.`);
  return shownApplication(await operator.revokeApplicationSecret({ applicationId, secretId }, call));
};

function parsed(given: string): { instanceId: string; uri: string } {
  try {
    return redirectUris(given)[0] as { instanceId: string; uri: string };
  } catch (error) {
    throw new UsageError(`What was given as <instance=uri> cannot be used. ${(error as Error).message}`);
  }
}
