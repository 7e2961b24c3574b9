import {
  AccountNoticeKind,
  PasswordLinkPurpose,
} from '../../../../generated/proto/integration/platform/v1/accounts.js';
import { IntegrationNoticeKind } from '../../../../generated/proto/integration/platform/v1/integration_notices.js';
import type {
  AccountNotice,
  IntegrationNotice,
  WaitingNotices,
} from '../../../domain/credentials/notices.js';
import { listPage } from '../../../domain/platform/listing.js';
import {
  assertPasswordAcceptable,
  createLink,
  type LinkCreation,
  setPassword,
} from '../../../domain/platform/people/account-credentials.js';
import { acknowledgeNotices, createEmailChangeLink } from '../../../domain/platform/people/email-changes.js';
import { alsoOf } from '../../../domain/platform/trail.js';
import type { Changes } from '../../../domain/platform/unit-of-work.js';
import { actorOf } from '../../call-audit.js';
import { fromEnum, words } from '../fields.js';
import { accountAnswer } from './accounts.js';
import { type HandlerDependencies, type PlatformCall, type PlatformHandlers, write } from './write.js';

const toPurpose = fromEnum(words(PasswordLinkPurpose));

export function credentialHandlers(platform: HandlerDependencies): PlatformHandlers {
  const { hashRequest, passwords } = platform;
  const mailed = async (page: string, creation: LinkCreation, ...[unitOfWork, context]: PlatformCall) => {
    const link = await unitOfWork.run((changes) => createLink(changes, actorOf(context), creation));
    return { url: addressOf(page, link.token), expiresAt: link.expiresAt, email: link.email };
  };
  const addressOf = (page: string, token: string) => {
    const url = new URL(page, platform.signOnUrl);
    url.searchParams.set('token', token);
    return url.href;
  };
  return {
    setPassword: async (request, unitOfWork, context) => {
      const { accountId, password } = request;
      await assertPasswordAcceptable(unitOfWork.rows, accountId, password);
      const passwordHash = await passwords.hash(password);
      return write({ unitOfWork, hashRequest }, 'setPassword', request, context, (changes) =>
        accountAnswer(changes, setPassword(changes, actorOf(context), { accountId, passwordHash })),
      );
    },
    createPasswordLink: ({ accountId, purpose, lifetimeSeconds }, ...call) =>
      mailed('/auth/set-password', { accountId, purpose: toPurpose(purpose), lifetimeSeconds }, ...call),
    createEmailVerificationLink: ({ accountId, lifetimeSeconds }, ...call) =>
      mailed('/auth/verify-email', { accountId, purpose: 'verify_email', lifetimeSeconds }, ...call),
    createEmailChangeLink: async ({ wish, lifetimeSeconds }, unitOfWork, context) => {
      const creation = {
        wish: wish?.$case === 'userId' ? { userId: wish.value } : wish && { accountId: wish.value },
        lifetimeSeconds,
      };
      const { token, ...link } = await unitOfWork.run((changes) =>
        createEmailChangeLink(changes, actorOf(context), creation),
      );
      return { url: addressOf('/auth/change-email', token), ...link };
    },
    listAccountNotices: async (listing, unitOfWork) => {
      const { rows, nextPageToken } = await listPage(listing, (page) => unitOfWork.rows.notices.page(page));
      return { notices: rows.map(toNoticeMessage), nextPageToken };
    },
    acknowledgeAccountNotices: acknowledging('account_notices.acknowledged', ({ notices }) => notices),
    listIntegrationNotices: async (listing, { rows: { integrationNotices } }) => {
      const { rows, nextPageToken } = await listPage(listing, (page) => integrationNotices.page(page));
      return { notices: rows.map(toIntegrationNoticeMessage), nextPageToken };
    },
    acknowledgeIntegrationNotices: acknowledging(
      'integration_notices.acknowledged',
      ({ integrationNotices }) => integrationNotices,
    ),
  };
}

/** Removes notices that were mailed. The record names those that waited: the request may have any text. */
function acknowledging(
  type: 'account_notices.acknowledged' | 'integration_notices.acknowledged',
  noticesOf: (changes: Changes) => Pick<WaitingNotices<unknown>, 'remove'>,
) {
  return (request: { noticeIds: string[] }, ...[unitOfWork, context]: PlatformCall) =>
    unitOfWork.run(async (changes) => {
      const [id, ...others] = await acknowledgeNotices(noticesOf(changes), request.noticeIds);
      if (id !== undefined) {
        const subject = { type: 'notice', id };
        await changes.audit(actorOf(context), { type, subject, attributes: alsoOf(others) });
      }
      return {};
    });
}

function toNoticeMessage(notice: AccountNotice) {
  return { ...notice, kind: AccountNoticeKind.EMAIL_CHANGED, occurredAt: notice.createdAt };
}

function toIntegrationNoticeMessage({ createdAt, ...notice }: IntegrationNotice) {
  return {
    ...notice,
    kind:
      notice.kind === 'failing_half'
        ? IntegrationNoticeKind.SUBSCRIPTION_FAILING_HALF
        : IntegrationNoticeKind.SUBSCRIPTION_FAILING_NINE_TENTHS,
    occurredAt: createdAt,
  };
}
