import { PasswordLinkPurpose } from '../../../../generated/proto/integration/platform/v1/accounts.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import type { LinkPurpose } from '../../../domain/credentials/links.js';
import {
  assertPasswordAcceptable,
  createLink,
  type LinkCreation,
  setPassword,
} from '../../../domain/platform/account-credentials.js';
import type { CallContext, Handlers } from '../../handlers.js';
import { actorOf } from '../actor.js';
import { toAccountMessage } from './accounts.js';
import { type PlatformDependencies, write } from './write.js';

const PURPOSES = new Map<PasswordLinkPurpose, LinkPurpose>([
  [PasswordLinkPurpose.INVITATION, 'invitation'],
  [PasswordLinkPurpose.RESET, 'reset'],
]);

export function credentialHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { unitOfWork, passwords } = platform;
  const mailed = async (page: string, creation: LinkCreation, context: CallContext) => {
    const link = await unitOfWork.run((changes) => createLink(changes, actorOf(context), creation));
    const url = new URL(page, platform.signOnUrl);
    url.searchParams.set('token', link.token);
    return { url: url.href, expiresAt: new Date(link.expiresAt) };
  };
  return {
    setPassword: async (request, context) => {
      const { accountId, password } = request;
      await unitOfWork.run((changes) => assertPasswordAcceptable(changes, accountId, password));
      const passwordHash = await passwords.hash(password);
      return write(platform, methods.setPassword, request, async (changes) => ({
        account: await toAccountMessage(
          changes,
          await setPassword(changes, actorOf(context), { accountId, passwordHash }),
        ),
      }));
    },
    createPasswordLink: ({ accountId, purpose, lifetimeSeconds }, context) =>
      mailed('/auth/set-password', { accountId, purpose: PURPOSES.get(purpose), lifetimeSeconds }, context),
    createEmailVerificationLink: ({ accountId, lifetimeSeconds }, context) =>
      mailed('/auth/verify-email', { accountId, purpose: 'verify_email', lifetimeSeconds }, context),
  };
}
